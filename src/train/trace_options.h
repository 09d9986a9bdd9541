// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Selection of the updates and ranks in a trace.
#pragma once

#include <cstdint>

namespace roentgen::train {

/// Options of a trace. Checkpoints and validations are always included.
struct TraceOptions {
  /// Number of updates traced from the start; after them, every `every`-th.
  std::int64_t first = 100;
  /// Interval of traced updates, at least 1.
  std::int64_t every = 100;
  /// Largest number of traced ranks, at least 1; rank 0 is one of them, and the others are spread evenly.
  std::int64_t most_ranks = 16;
  friend bool operator==(const TraceOptions&, const TraceOptions&) = default;
};

}  // namespace roentgen::train
