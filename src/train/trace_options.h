// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What of a run goes into its trace.
#pragma once

#include <cstdint>

namespace roentgen::train {

/// Checkpoints and validations are always in it.
struct TraceOptions {
  /// Updates of this start that are traced, and after them every `every`-th.
  std::int64_t first = 100;
  /// At least 1.
  std::int64_t every = 100;
  /// At most so many ranks, rank 0 among them and the others spread evenly; at least 1.
  std::int64_t most_ranks = 16;
  friend bool operator==(const TraceOptions&, const TraceOptions&) = default;
};

}  // namespace roentgen::train
