// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// EmulatedStorage: storage slower than this machine's, such as a busy network file system, so that a pipeline's
// behaviour on it can be tried anywhere. For measuring only.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "core/thread_annotations.h"
#include "data/stage/storage_costs.h"

namespace roentgen::data {

/// Makes threads wait as such storage would. Thread-safe.
class EmulatedStorage {
 public:
  explicit EmulatedStorage(StorageCosts costs) : costs_(costs) {}

  /// Call it when a file is opened: waits for its turn among all opens, then open_s.
  void open();
  /// Call it when `bytes` of the file were read.
  void read(std::uint64_t bytes) const;
  /// Calls of open() so far.
  [[nodiscard]] std::int64_t opened() const { return opened_; }
  [[nodiscard]] const StorageCosts& costs() const { return costs_; }

 private:
  using Clock = std::chrono::steady_clock;

  const StorageCosts costs_;
  std::atomic<std::int64_t> opened_ = 0;
  Mutex mutex_;
  Clock::time_point next_open_ RG_GUARDED_BY(mutex_) = {};
};

}  // namespace roentgen::data
