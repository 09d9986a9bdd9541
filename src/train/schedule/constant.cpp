// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// lr(step) = base_lr.
#include "train/schedule/schedule_list.h"

namespace roentgen::train {
namespace {

class Constant final : public Schedule {
 public:
  explicit Constant(const ScheduleOptions& options) : lr_(options.base_lr) {}
  [[nodiscard]] double lr(std::int64_t) const override { return lr_; }

 private:
  double lr_;
};

}  // namespace

std::unique_ptr<Schedule> make_constant_schedule(const ScheduleOptions& options) {
  return std::make_unique<Constant>(options);
}

}  // namespace roentgen::train
