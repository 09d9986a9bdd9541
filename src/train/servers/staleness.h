// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Counts of gradients that asynchronous updates took or dropped.
#pragma once

#include <cstdint>

namespace roentgen::train {

/// Counts of an asynchronous run since it began or was resumed, of the first server's shard.
struct StalenessRecord {
  std::int64_t applied = 0;  ///< gradients that changed the weights
  std::int64_t dropped = 0;  ///< gradients that were too old
  double mean = 0.0;         ///< mean staleness of those applied, in versions
  std::int64_t max = 0;      ///< largest staleness of one applied
};

}  // namespace roentgen::train
