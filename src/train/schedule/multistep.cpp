// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// lr(step) = base_lr * gamma^(number of milestones <= step): torch's MultiStepLR.
#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "train/schedule/schedule_list.h"

namespace roentgen::train {
namespace {

class Multistep final : public Schedule {
 public:
  explicit Multistep(const ScheduleOptions& options) : options_(options) {
    if (!std::is_sorted(options.milestones_steps.begin(), options.milestones_steps.end())) {
      throw ConfigError(error_text("train.schedule", "milestones", "epochs in ascending order", "another order",
                                   "sorting schedule.milestones_epochs"));
    }
  }
  [[nodiscard]] double lr(std::int64_t step) const override {
    const auto& milestones = options_.milestones_steps;
    const auto passed = std::upper_bound(milestones.begin(), milestones.end(), step) - milestones.begin();
    return options_.base_lr * std::pow(options_.gamma, static_cast<double>(passed));
  }

 private:
  ScheduleOptions options_;
};

}  // namespace

std::unique_ptr<Schedule> make_multistep_schedule(const ScheduleOptions& options) {
  return std::make_unique<Multistep>(options);
}

}  // namespace roentgen::train
