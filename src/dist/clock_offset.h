// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Offsets between the clocks of ranks, so that their records can share one time axis.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dist/communicator.h"

namespace roentgen::dist {

/// Difference between a rank's clock and rank 0's.
struct ClockOffset {
  /// Time of this rank's clock minus the time of rank 0's clock at the same moment.
  std::int64_t offset_ns = 0;
  /// Largest possible error of the offset: half of the shortest round trip.
  std::int64_t error_ns = 0;
};

/// Measures the clocks of `ranks` against rank 0's clock by messages there and back; the fastest round trip counts
/// (Cristian 1989). Rank 0 and the ranks in `ranks` must call it, with the same list; other ranks need not. Throws
/// CommError as Pending::wait() does.
/// @param ranks ranks to measure, ascending; may include 0
/// @param now returns the time of this rank's clock
/// @return on rank 0, the offset of each of `ranks`; on other ranks an empty list
[[nodiscard]] std::vector<ClockOffset> measure_clock_offsets(Communicator& group, std::span<const int> ranks,
                                                             const std::function<std::int64_t()>& now,
                                                             std::chrono::milliseconds limit);

}  // namespace roentgen::dist
