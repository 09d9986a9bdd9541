// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Progress of a measurement on standard error, for steps or repetitions that together take more than a few seconds.
#pragma once

#include <cstdint>
#include <string>

#include "bench/harness.h"
#include "train/observer.h"

namespace roentgen::bench {

/// Shows the number of steps done, the speed and the time left, at most every 5 s. Not thread-safe.
class StepProgress {
 public:
  /// @param what begin of the line, such as "short, 4 ranks"
  StepProgress(std::string what, std::int64_t steps) : what_(std::move(what)), steps_(steps) {}
  /// Shows the line if one is due.
  void update(const train::StepRecord& record);
  /// Removes the line from a terminal.
  void end() const;

 private:
  std::string what_;
  std::int64_t steps_;
  Clock::time_point shown_ = Clock::now();
};

/// Shows the number of repetitions done and the time left, at most every 5 s. Silent in all ranks but the first. Not
/// thread-safe.
class RepeatProgress {
 public:
  explicit RepeatProgress(std::int64_t count);
  ~RepeatProgress();
  RepeatProgress(const RepeatProgress&) = delete;
  RepeatProgress& operator=(const RepeatProgress&) = delete;
  /// Counts a repetition, and shows the line if one is due.
  void add();

 private:
  std::int64_t count_;
  std::int64_t done_ = 0;
  bool is_silent_;
  bool has_shown_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_ = begin_;
};

/// Line of RepeatProgress, such as "measurement 3 of 12, left 1 min 30 s".
[[nodiscard]] std::string repeat_text(std::int64_t done, std::int64_t count, double elapsed_s);

}  // namespace roentgen::bench
