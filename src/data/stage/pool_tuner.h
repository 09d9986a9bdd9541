// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// PoolTuner: sets the `auto` sizes of a pool. Each depends on the ones before, so it tunes them in order: files read at
// once, decoding threads, ready batches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "data/stage/pool_plan.h"
#include "data/stage/read_tuner.h"
#include "data/stage/worker_tuner.h"

namespace roentgen::data {

/// Pure: no clock of its own. One thread.
class PoolTuner {
 public:
  explicit PoolTuner(const PoolPlan& plan);

  /// Threads that decode at once.
  [[nodiscard]] int workers() const { return workers_.active(); }
  /// Extra threads that wait for storage.
  [[nodiscard]] int readers() const { return plan_.is_read_tuned ? reads_.readers() : plan_.readers; }
  /// Limits the number of readers.
  void limit_readers(int most) {
    plan_.readers = std::min(plan_.readers, most);
    reads_.limit(most);
  }
  /// Finished batches that may be held.
  [[nodiscard]] std::int64_t ahead() const { return ahead_.ahead(); }
  /// Whether any size is tuned.
  [[nodiscard]] bool does_tune() const { return plan_.is_tuned || plan_.is_read_tuned || plan_.is_prefetch_tuned; }
  /// Must be called for each batch. `ready`: finished batches at the time of the request. Returns true once, when every
  /// size has settled.
  bool observe(const BatchTimes& times, std::int64_t ready);
  /// Whether every size was found once. Reading ahead is still measured afterwards.
  [[nodiscard]] bool has_settled() const { return has_settled_ || !does_tune(); }
  /// One line with the tuned sizes and the rule of thumb.
  [[nodiscard]] std::string text() const;

 private:
  PoolPlan plan_;
  WorkerTuner workers_;
  ReadTuner reads_;
  PrefetchTuner ahead_;
  bool has_settled_ = false;
};

}  // namespace roentgen::data
