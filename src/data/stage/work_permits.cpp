// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/work_permits.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace roentgen::data {
namespace {

constexpr int kNone = -1;

}  // namespace

WorkPermits::WorkPermits(int most, int threads)
    : is_served_(static_cast<std::size_t>(threads)), given_(static_cast<std::size_t>(threads), kNone), allowed_(most) {
  RG_ASSERT(most >= 1 && threads >= 1);
  for (int permit = most - 1; permit >= 0; --permit) free_.push_back(permit);
  waiters_.reserve(static_cast<std::size_t>(threads));
}

void WorkPermits::hand_out() {
  while (out_ < allowed_ && !waiters_.empty()) {
    const auto first = std::ranges::min_element(waiters_, {}, &Waiter::order);
    const auto thread = static_cast<std::size_t>(first->thread);
    *first = waiters_.back();
    waiters_.pop_back();
    given_[thread] = free_.back();
    free_.pop_back();
    ++out_;
    is_served_[thread].notify_one();
  }
}

int WorkPermits::acquire(int thread, std::int64_t order) {
  const auto index = static_cast<std::size_t>(thread);
  MutexLock lock(mutex_);
  waiters_.push_back({.order = order, .thread = thread});
  hand_out();
  while (given_[index] == kNone) is_served_[index].wait(lock);
  return std::exchange(given_[index], kNone);
}

void WorkPermits::release(int permit) {
  MutexLock lock(mutex_);
  free_.push_back(permit);
  --out_;
  hand_out();
}

void WorkPermits::allow(int count) {
  MutexLock lock(mutex_);
  RG_ASSERT(count >= 1);
  allowed_ = count;
  hand_out();
}

int WorkPermits::waiting() const {
  MutexLock lock(mutex_);
  return static_cast<int>(waiters_.size());
}

}  // namespace roentgen::data
