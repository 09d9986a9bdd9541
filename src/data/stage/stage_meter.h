// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Counters of a stage.
#pragma once

#include <cstdint>
#include <string>

namespace roentgen::data {

/// Work of a stage so far.
struct StageMeter {
  /// Elements (behind a batch: batches) given.
  std::int64_t items = 0;
  /// Time in this stage and in earlier ones, as seen by the thread that pulls.
  double pull_s = 0.0;
  /// Sums of its threads, where it has any.
  double busy_s = 0.0;
  int threads = 0;  ///< threads that compute
  /// Threads beside them that wait for storage.
  int readers = 0;
  /// Capacity for finished elements. The counters below: how full it was, how often a pull found none, how often a
  /// thread found no free place.
  std::int64_t capacity = 0;
  std::int64_t depth_sum = 0;    ///< full rooms, summed over pulls
  std::int64_t empty_waits = 0;  ///< pulls that found none
  std::int64_t full_waits = 0;   ///< times that a thread found no room
};

/// A stage as a report shows it.
struct StageReport {
  /// "interleave(cycle=10)".
  std::string stage;
  StageMeter meter;  ///< counts of the stage
};

}  // namespace roentgen::data
