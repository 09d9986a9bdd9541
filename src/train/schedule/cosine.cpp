// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// lr(step) = low + (base_lr - low) * (1 + cos(pi * progress)) / 2 with low = final_share * base_lr: one half period,
// without restarts (Loshchilov & Hutter 2017, eq. 5).
#include <cmath>
#include <numbers>

#include "train/schedule/schedule_list.h"

namespace roentgen::train {
namespace {

class Cosine final : public Schedule {
 public:
  explicit Cosine(const ScheduleOptions& options) : options_(options) {}
  [[nodiscard]] double lr(std::int64_t step) const override {
    const double low = options_.base_lr * options_.final_share;
    const double wave = (1.0 + std::cos(std::numbers::pi * progress(options_, step))) / 2.0;
    return low + (options_.base_lr - low) * wave;
  }

 private:
  ScheduleOptions options_;
};

}  // namespace

std::unique_ptr<Schedule> make_cosine_schedule(const ScheduleOptions& options) {
  return std::make_unique<Cosine>(options);
}

}  // namespace roentgen::train
