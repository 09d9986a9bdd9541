// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Selection of the updates and ranks in a trace.
#pragma once

#include <cstdint>

namespace roentgen::train {

/// Selects what is traced. Checkpoints and validations are always traced.
struct TraceOptions {
  /// Number of updates at the start that are all traced; later, only every `every`-th update is.
  std::int64_t first = 100;
  /// Interval between traced updates after the first ones, at least 1.
  std::int64_t every = 100;
  /// Largest number of traced ranks, at least 1. Rank 0 is always traced, and the others are spread evenly.
  std::int64_t most_ranks = 16;
  friend bool operator==(const TraceOptions&, const TraceOptions&) = default;
};

}  // namespace roentgen::train
