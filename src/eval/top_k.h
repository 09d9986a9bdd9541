// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Top-1 and top-5 accuracy of single-label sets.
#pragma once

#include <cstdint>
#include <vector>

#include "eval/predictions.h"

namespace roentgen::eval {

/// Of each image, how much it counts as right (N): 1 when its true label is among the k highest probabilities, 0 when
/// not; where the k-th place is shared by equals, the chance of being in when equals are ordered at random. NaN for an
/// image that has not exactly one true label. Their mean over images is the top-k accuracy.
[[nodiscard]] std::vector<double> top_k_credits(const Predictions& predictions, std::int64_t k);

}  // namespace roentgen::eval
