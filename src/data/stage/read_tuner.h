// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ReadTuner: how many files are worth reading at once. Storage answers many requests in the time of one; by Little's
// law (J. D. C. Little, Operations Research 9, 1961) as many have to be under way as answers are wanted a second, times
// the seconds that one takes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "data/stage/worker_tuner.h"

namespace roentgen::data {

/// Number of threads that wait for storage in addition to the decoding threads. Starts with none.
/// It adds readers after a window in which the consumer waited, if threads were blocked in reading for a tenth of their
/// working time. It computes how many would keep all decoding threads busy if these never waited, and takes two and a
/// half times that number. It goes back when batches became no faster, and tries again after 16 windows. It drops
/// unneeded readers when nobody waited. Tuning never ends, because files of the page cache may be evicted later. Pure:
/// no clock of its own. One thread.
class ReadTuner {
 public:
  explicit ReadTuner(int most) : most_(most) {}

  /// Current number of extra readers.
  [[nodiscard]] int readers() const { return readers_; }
  /// Whether the last window changed nothing.
  [[nodiscard]] bool is_settled() const { return is_settled_; }
  /// Limits the number of readers from now on.
  void limit(int most) {
    most_ = std::min(most_, most);
    readers_ = std::min(readers_, most_);
  }
  /// Call it for each batch. `decoders`: threads that decode at once.
  void observe(const BatchTimes& times, int decoders);

 private:
  void end_window(int decoders);
  [[nodiscard]] int wanted(int decoders) const;

  int most_;
  int readers_ = 0;
  bool is_settled_ = false;
  std::int64_t batches_ = -1;
  BatchTimes sum_;
  /// Number of readers before the last window, and the duration of a window with them; only where readers were added.
  int readers_before_ = 0;
  double window_before_s_ = 0.0;
  /// Windows in which no reader is added.
  int rest_ = 0;
};

}  // namespace roentgen::data
