// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// WorkPermits: limits how many threads of a pool compute at once. Other threads wait for storage, or hold read data and
// wait for a permit.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/thread_annotations.h"

namespace roentgen::data {

/// Permits with numbers 0 to most - 1. Among waiting threads, the one with the smallest `order` gets a permit first, so
/// that the most urgent work is done first. It gets the free permit that was returned last, because its memory is still
/// in cache. Thread-safe.
class WorkPermits {
 public:
  /// @param threads number of threads that may request permits; they are numbered from 0
  WorkPermits(int most, int threads);

  /// Waits for a permit and returns its number.
  [[nodiscard]] int acquire(int thread, std::int64_t order);
  void release(int permit);
  /// Limits the permits in use to `count`, from 1 to `most`; permits in use are not revoked.
  void allow(int count);
  /// Number of waiting threads.
  [[nodiscard]] int waiting() const;

 private:
  struct Waiter {
    std::int64_t order = 0;
    int thread = 0;
  };
  void hand_out() RG_REQUIRES(mutex_);

  mutable Mutex mutex_;
  /// Condition variable of each thread, so that only the thread that gets a permit wakes up.
  std::deque<std::condition_variable_any> is_served_;
  /// Permit that was assigned to each thread, or -1.
  std::vector<int> given_ RG_GUARDED_BY(mutex_);
  std::vector<Waiter> waiters_ RG_GUARDED_BY(mutex_);
  std::vector<int> free_ RG_GUARDED_BY(mutex_);
  int allowed_ RG_GUARDED_BY(mutex_);
  int out_ RG_GUARDED_BY(mutex_) = 0;
};

/// Holds a permit for the duration of a scope.
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
