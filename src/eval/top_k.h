// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Top-k accuracy, for images that have exactly one true label.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "eval/predictions.h"

namespace roentgen::eval {

/// Returns the top-k credit of each image (N): 1 if its true label is among the k highest probabilities, else 0. If
/// equal probabilities share the k-th place, the credit is the chance of being among the k in a random order. NaN for
/// an image that has not exactly one true label. The mean over images is the top-k accuracy.
[[nodiscard]] std::vector<double> top_k_credits(const Predictions& predictions, std::int64_t k);

/// Top-k accuracy: mean credit of the images that have exactly one true label. Nullopt if there are none, or if outputs
/// are not exclusive.
[[nodiscard]] std::optional<double> top_k_accuracy(const Predictions& predictions, std::int64_t k);

}  // namespace roentgen::eval
