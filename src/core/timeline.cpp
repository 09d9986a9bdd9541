// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/timeline.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace roentgen {

Timeline::Timeline(std::size_t most) : most_(most) {
  // spans before the first reallocation, enough for a hundred steps of some networks
  constexpr std::size_t kFirst = 16'384;
  spans_.reserve(std::min(most, kFirst));
}

std::int64_t Timeline::now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Timeline::add(const Span& span) {
  const MutexLock lock(mutex_);
  if (spans_.size() < most_) {
    spans_.push_back(span);
    if (keep_) keep_(span);
  } else {
    ++dropped_;
  }
}

void Timeline::also_to(std::function<void(const Span&)> keep) {
  const MutexLock lock(mutex_);
  keep_ = std::move(keep);
  if (!keep_) return;
  for (const Span& span : spans_) keep_(span);
}

std::vector<Span> Timeline::spans() const {
  const MutexLock lock(mutex_);
  return spans_;
}

std::int64_t Timeline::dropped() const {
  const MutexLock lock(mutex_);
  return dropped_;
}

}  // namespace roentgen
