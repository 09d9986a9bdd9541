// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// PoolTuner: chooses the `auto` sizes of a pool. Each size depends on the previous ones, so it tunes them in this
// order: files read at once, decoding threads, finished batches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "data/stage/pool_plan.h"
#include "data/stage/read_tuner.h"
#include "data/stage/worker_tuner.h"

namespace roentgen::data {

/// Tuner of all sizes. It reads no clock, only the times passed to observe(). Not thread-safe.
class PoolTuner {
 public:
  explicit PoolTuner(const PoolPlan& plan);

  /// Number of threads that decode at once.
  [[nodiscard]] int workers() const { return workers_.active(); }
  /// Number of additional threads that wait for storage.
  [[nodiscard]] int readers() const { return plan_.is_read_tuned ? reads_.readers() : plan_.readers; }
  /// Limits the number of readers from now on.
  void limit_readers(int most) {
    plan_.readers = std::min(plan_.readers, most);
    reads_.limit(most);
  }
  /// Number of finished batches that may be held.
  [[nodiscard]] std::int64_t ahead() const { return ahead_.ahead(); }
  /// True if any size is tuned.
  [[nodiscard]] bool does_tune() const { return plan_.is_tuned || plan_.is_read_tuned || plan_.is_prefetch_tuned; }
  /// Must be called for each batch. `ready`: number of finished batches when the consumer asked for one. Returns true
  /// once, when every size has been chosen.
  bool observe(const BatchTimes& times, std::int64_t ready);
  /// True if every size was chosen once. The number of readers is still adjusted afterwards.
  [[nodiscard]] bool has_settled() const { return has_settled_ || !does_tune(); }
  /// One line with the tuned sizes and the rule of thumb that they can be compared with.
  [[nodiscard]] std::string text() const;

 private:
  PoolPlan plan_;
  WorkerTuner workers_;
  ReadTuner reads_;
  PrefetchTuner ahead_;
  bool has_settled_ = false;
};

}  // namespace roentgen::data
