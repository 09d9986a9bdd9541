// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// WorkPermits: limits the threads of a pool that use a core at once. The others wait for storage, or for a permit with
// the data that they have read.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/thread_annotations.h"

namespace roentgen::data {

/// Permits 0 to most - 1. The waiting thread with the smallest order gets one first, so that the most urgent work is
/// done first. Of the free permits, it gets the one returned last, whose memory is still in cache. Thread-safe.
class WorkPermits {
 public:
  /// @param threads that may ask: 0 to threads - 1
  WorkPermits(int most, int threads);

  /// Waits for one.
  [[nodiscard]] int acquire(int thread, std::int64_t order);
  void release(int permit);
  /// Limits the permits in use to `count`, from 1 to `most`; permits in use are not revoked.
  void allow(int count);
  /// Threads that wait.
  [[nodiscard]] int waiting() const;

 private:
  struct Waiter {
    std::int64_t order = 0;
    int thread = 0;
  };
  void hand_out() RG_REQUIRES(mutex_);

  mutable Mutex mutex_;
  /// Condition of each thread, so that only the thread that gets a permit wakes up.
  std::deque<std::condition_variable_any> is_served_;
  /// Permit of each thread, or -1.
  std::vector<int> given_ RG_GUARDED_BY(mutex_);
  std::vector<Waiter> waiters_ RG_GUARDED_BY(mutex_);
  std::vector<int> free_ RG_GUARDED_BY(mutex_);
  int allowed_ RG_GUARDED_BY(mutex_);
  int out_ RG_GUARDED_BY(mutex_) = 0;
};

/// A permit held for a scope.
class WorkPermit {
 public:
  WorkPermit(WorkPermits& permits, int thread, std::int64_t order)
      : permits_(permits), index_(permits.acquire(thread, order)) {}
  WorkPermit(const WorkPermit&) = delete;
  WorkPermit& operator=(const WorkPermit&) = delete;
  ~WorkPermit() { permits_.release(index_); }
  [[nodiscard]] int index() const { return index_; }

 private:
  WorkPermits& permits_;
  const int index_;
};

}  // namespace roentgen::data
