// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Counters of a pipeline stage.
#pragma once

#include <cstdint>
#include <string>

namespace roentgen::data {

/// Work that a stage has done so far.
struct StageMeter {
  /// Number of elements returned; after a batch stage, of batches.
  std::int64_t items = 0;
  /// Seconds in this stage and earlier ones, measured by the pulling thread.
  double pull_s = 0.0;
  /// Working seconds of the stage's threads, summed; 0 if it has none.
  double busy_s = 0.0;
  int threads = 0;  ///< number of threads that compute
  /// Number of additional threads that wait for storage.
  int readers = 0;
  /// Capacity of the queue of finished elements. The next members count how full it was, how often a pull found it
  /// empty, and how often a thread found it full.
  std::int64_t capacity = 0;
  std::int64_t depth_sum = 0;    ///< length of the queue, summed over pulls
  std::int64_t empty_waits = 0;  ///< number of pulls that found it empty
  std::int64_t full_waits = 0;   ///< number of times that a thread found it full
};

/// Counters of one stage for a report.
struct StageReport {
  /// Text of the stage, such as "interleave(cycle=10)".
  std::string stage;
  StageMeter meter;  ///< counts of the stage
};

}  // namespace roentgen::data
