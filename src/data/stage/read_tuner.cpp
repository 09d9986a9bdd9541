// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/read_tuner.h"

#include <algorithm>
#include <cmath>

namespace roentgen::data {
namespace {

// Factor on the computed number. A reader whose file waits for a decoding thread reads nothing meanwhile.
constexpr double kReserve = 2.5;
// Smallest fraction of blocked time that justifies reading ahead.
constexpr double kBlockedShare = 0.1;
// Speed-up that additional readers must achieve.
constexpr double kGain = 1.05;
constexpr int kRestWindows = 16;

}  // namespace

void ReadTuner::observe(const BatchTimes& times, int decoders) {
  if (++batches_ == 0) return;
  sum_ += times;
  if (batches_ % WorkerTuner::kWindow != 0) return;
  end_window(decoders);
  sum_ = {};
}

int ReadTuner::wanted(int decoders) const {
  if (rest_ > 0 || sum_.blocked_s < kBlockedShare * sum_.work_s) return readers_;
  const double needed = std::ceil(kReserve * decoders * sum_.blocked_s / std::max(sum_.work_s, 1e-9));
  return static_cast<int>(std::clamp<double>(needed, readers_, most_));
}

void ReadTuner::end_window(int decoders) {
  const int before = readers_;
  const bool was_waiting = sum_.wait_s > WorkerTuner::kWaitShare * sum_.interval_s;
  rest_ = std::max(rest_ - 1, 0);
  if (was_waiting && window_before_s_ > 0.0 && sum_.interval_s * kGain > window_before_s_) {
    readers_ = readers_before_;
    rest_ = kRestWindows;
  } else if (was_waiting) {
    readers_ = wanted(decoders);
  } else {
    const double under_way = std::ceil(kReserve * sum_.blocked_s / std::max(sum_.interval_s, 1e-9));
    readers_ = static_cast<int>(std::min<double>(readers_, under_way));
  }
  window_before_s_ = readers_ > before ? sum_.interval_s : 0.0;
  readers_before_ = before;
  is_settled_ = readers_ == before;
}

}  // namespace roentgen::data
