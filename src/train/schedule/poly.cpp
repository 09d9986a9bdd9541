// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// lr(step) = low + (base_lr - low) * (1 - progress)^power with low = final_share * base_lr: Caffe's "poly".
#include <cmath>

#include "core/error.h"
#include "train/schedule/schedule_list.h"

namespace roentgen::train {
namespace {

class Poly final : public Schedule {
 public:
  explicit Poly(const ScheduleOptions& options) : options_(options) {
    if (!(options.power > 0.0)) {
      throw ConfigError(
          error_text("train.schedule", "power", "a number above 0", std::to_string(options.power), kSeeDefaults));
    }
  }
  [[nodiscard]] double lr(std::int64_t step) const override {
    const double low = options_.base_lr * options_.final_share;
    return low + (options_.base_lr - low) * std::pow(1.0 - progress(options_, step), options_.power);
  }

 private:
  ScheduleOptions options_;
};

}  // namespace

std::unique_ptr<Schedule> make_poly_schedule(const ScheduleOptions& options) { return std::make_unique<Poly>(options); }

}  // namespace roentgen::train
