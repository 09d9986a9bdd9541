// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Top-1 and top-5 accuracy of single-label sets.
#pragma once

#include <cstdint>
#include <vector>

#include "eval/predictions.h"

namespace roentgen::eval {

/// Credit of each image (N): 1 when its true label is among the k highest probabilities, 0 when not. Where equal
/// probabilities share the k-th place, it is the chance of being inside in a random order. NaN for an image that has
/// not exactly one true label. The mean over images is the top-k accuracy.
[[nodiscard]] std::vector<double> top_k_credits(const Predictions& predictions, std::int64_t k);

}  // namespace roentgen::eval
