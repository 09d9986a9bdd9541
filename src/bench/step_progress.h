// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// StepProgress: progress of a measurement on standard error, for steps that together take more than a few seconds.
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

}  // namespace roentgen::bench
