// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// EmulatedStorage: simulates storage that is slower than this machine's, such as a busy network file system. Pipelines
// can then be tested on it anywhere. For benchmarks only.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "core/thread_annotations.h"
#include "data/stage/storage_costs.h"

namespace roentgen::data {

/// Makes threads wait as long as slow storage would. Thread-safe.
class EmulatedStorage {
 public:
  explicit EmulatedStorage(StorageCosts costs) : costs_(costs) {}

  /// Must be called when a file is opened. Waits for its turn among all opens, and then for open_s.
  void open();
  /// Must be called after `bytes` bytes of the file were read. Waits for the simulated time.
  void read(std::uint64_t bytes) const;
  /// Number of calls of open() so far.
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
