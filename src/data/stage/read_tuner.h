// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ReadTuner: chooses how many files to read at once. Storage answers many requests in the time of one. By Little's law
// (J. D. C. Little, Operations Research 9, 1961) the number of requests in flight must be the desired rate times the
// latency of one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "data/stage/worker_tuner.h"

namespace roentgen::data {

/// Number of threads that wait for storage in addition to the decoding threads. Initially 0.
/// It adds readers after a window in which the consumer waited, if threads were blocked in reading for a tenth of their
/// working time. It computes how many readers would keep all decoding threads busy, and uses two and a half times that
/// number. It reverts if batches became no faster, and tries again after 16 windows. It removes unneeded readers if
/// nobody waited. Tuning never ends, because files may later be evicted from the page cache. It reads no clock. One
/// thread.
class ReadTuner {
 public:
  explicit ReadTuner(int most) : most_(most) {}

  /// Current number of extra readers.
  [[nodiscard]] int readers() const { return readers_; }
  /// True if the last window did not change the number of readers.
  [[nodiscard]] bool is_settled() const { return is_settled_; }
  /// Limits the number of readers from now on.
  void limit(int most) {
    most_ = std::min(most_, most);
    readers_ = std::min(readers_, most_);
  }
  /// Must be called for each batch. `decoders`: number of threads that decode at once.
  void observe(const BatchTimes& times, int decoders);

 private:
  void end_window(int decoders);
  [[nodiscard]] int wanted(int decoders) const;

  int most_;
  int readers_ = 0;
  bool is_settled_ = false;
  std::int64_t batches_ = -1;
  BatchTimes sum_;
  /// Number of readers before the last window, and duration of a window with that number. Set only after readers were
  /// added.
  int readers_before_ = 0;
  double window_before_s_ = 0.0;
  /// Number of windows to go in which no reader is added.
  int rest_ = 0;
};

}  // namespace roentgen::data
