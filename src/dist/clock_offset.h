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

/// Offset of a rank's clock.
struct ClockOffset {
  /// Time of this rank's clock minus that of rank 0's at the same moment.
  std::int64_t offset_ns = 0;
  /// Error bound of the offset: half the shortest round trip.
  std::int64_t error_ns = 0;
};

/// Measures the clocks of `ranks` against rank 0's by messages there and back, of which the quickest counts (Cristian
/// 1989). Rank 0 and those ranks must call it, with the same ranks; the others need not.
/// @param ranks ascending; 0 may be among them
/// @param now this rank's clock
/// @return on rank 0, of each of `ranks`; on others nothing. CommError as Pending::wait()
[[nodiscard]] std::vector<ClockOffset> measure_clock_offsets(Communicator& group, std::span<const int> ranks,
                                                             const std::function<std::int64_t()>& now,
                                                             std::chrono::milliseconds limit);

}  // namespace roentgen::dist
