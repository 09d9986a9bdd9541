// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// SlowestRank: the rank that works longest in an update, and so delays other ranks or delivers fewer gradients.
#pragma once

#include <span>

namespace roentgen::train {

/// Slowest of several ranks.
struct SlowestRank {
  int rank = -1;           ///< rank with the longest work time; -1: unknown
  double imbalance = 0.0;  ///< its work time above the mean, as a fraction of the mean; 0 if unknown
};

/// Returns the slowest rank; of several equally slow ranks, the first. A single rank is not compared.
/// @param busy work time of each rank in an update, in any unit; all 0 if unknown
[[nodiscard]] SlowestRank slowest_of(std::span<const float> busy);

}  // namespace roentgen::train
