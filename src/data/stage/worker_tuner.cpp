// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/worker_tuner.h"

#include <algorithm>
#include <cmath>

namespace roentgen::data {
namespace {

constexpr double kReserve = 4.0 / 3.0;
constexpr int kMostWindows = 10;

}  // namespace

bool WorkerTuner::observe(const BatchTimes& times) {
  if (is_settled_ || ++batches_ == 0) return false;
  sum_ += times;
  if (batches_ % kWindow != 0) return false;
  is_settled_ = end_window();
  sum_ = {};
  return is_settled_;
}

bool WorkerTuner::end_window() {
  const int before = active_;
  if (sum_.wait_s > kWaitShare * sum_.interval_s) {
    least_ = std::min(active_ + 1, most_);
    active_ = least_;
  } else if (sum_.interval_s > 0.0) {
    const double needed = std::ceil(kReserve * sum_.work_s / sum_.interval_s);
    active_ = static_cast<int>(std::clamp<double>(needed, least_, most_));
  }
  return active_ == before || ++windows_ == kMostWindows;
}

bool PrefetchTuner::observe(const BatchTimes& times, std::int64_t ready) {
  if (is_settled_ || ++batches_ == 0) return false;
  fewest_ready_ = batches_ % WorkerTuner::kWindow == 1 ? ready : std::min(fewest_ready_, ready);
  sum_ += times;
  if (batches_ % WorkerTuner::kWindow != 0) return false;
  const std::int64_t before = ahead_;
  if (sum_.wait_s > WorkerTuner::kWaitShare * sum_.interval_s) {
    least_ = std::min(ahead_ + 1, most_);
    ahead_ = least_;
  } else {
    ahead_ = std::clamp(ahead_ - std::max<std::int64_t>(fewest_ready_ - 1, 0), std::min(least_, most_), most_);
  }
  sum_ = {};
  is_settled_ = ahead_ == before || ++windows_ == kMostWindows;
  return is_settled_;
}

}  // namespace roentgen::data
