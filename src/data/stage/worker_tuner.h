// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tuners that choose a pipeline's `auto` sizes from measurements of its first batches. WorkerTuner chooses the number
// of workers. Too few make the network wait; too many take CPU time from the network's threads if both share cores.
// PrefetchTuner chooses the number of finished batches to hold.
#pragma once

#include <cstdint>

namespace roentgen::data {

/// Times measured between two batches.
struct BatchTimes {
  /// Time from one taken batch to the next.
  double interval_s = 0.0;
  /// Part of interval_s spent waiting for the batch.
  double wait_s = 0.0;
  /// Working time of all workers during interval_s, summed.
  double work_s = 0.0;
  /// Time that workers waited for storage, summed; not part of work_s.
  double blocked_s = 0.0;

  BatchTimes& operator+=(const BatchTimes& other) {
    interval_s += other.interval_s;
    wait_s += other.wait_s;
    work_s += other.work_s;
    blocked_s += other.blocked_s;
    return *this;
  }
};

/// Starts with all workers. After each window of batches it sets the number that the measured work requires, plus a
/// third. It adds one worker whenever the consumer had to wait. It stops when a window changes nothing, or after 10
/// windows. It reads no clock, only the times passed to observe(). Not thread-safe.
class WorkerTuner {
 public:
  /// Number of batches in a window. The first batch of all is not counted, because the pool starts empty.
  static constexpr std::int64_t kWindow = 4;
  /// Waits below this fraction of the time count as no wait.
  static constexpr double kWaitShare = 0.02;

  explicit WorkerTuner(int most) : most_(most), active_(most) {}

  /// Current number of workers, from 1 to the number of threads.
  [[nodiscard]] int active() const { return active_; }
  [[nodiscard]] bool is_settled() const { return is_settled_; }
  /// Must be called for each batch. Returns true when tuning ends with this batch.
  bool observe(const BatchTimes& times);

 private:
  bool end_window();

  const int most_;
  int active_;
  /// Lower bound: one more than the largest number found to be too few.
  int least_ = 1;
  bool is_settled_ = false;
  std::int64_t batches_ = -1;
  int windows_ = 0;
  BatchTimes sum_;
};

/// Chooses the number of finished batches that prefetch(auto) holds: as many as the consumer needs to always find one.
/// Starts with the number that the slots allow. After each window it removes batches that were never used, and adds one
/// if the consumer had to wait. It ends under the same conditions as WorkerTuner. It reads no clock. Not thread-safe.
class PrefetchTuner {
 public:
  explicit PrefetchTuner(std::int64_t most) : most_(most), ahead_(most) {}

  /// Current number of batches to hold, at least 1.
  [[nodiscard]] std::int64_t ahead() const { return ahead_; }
  [[nodiscard]] bool is_settled() const { return is_settled_; }
  /// Must be called for each batch. `ready`: number of finished batches when the consumer asked for one. Returns true
  /// when tuning ends with this batch.
  bool observe(const BatchTimes& times, std::int64_t ready);

 private:
  const std::int64_t most_;
  std::int64_t ahead_;
  /// Lower bound: one more than the largest number found to be too few.
  std::int64_t least_ = 1;
  bool is_settled_ = false;
  std::int64_t batches_ = -1;
  int windows_ = 0;
  std::int64_t fewest_ready_ = 0;
  BatchTimes sum_;
};

}  // namespace roentgen::data
