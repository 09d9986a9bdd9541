// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The rate is multiplied by gamma when `patience` + 1 validations in a row have not improved the metric by more than
// min_delta. It never falls below final_share of the base rate. This is torch's ReduceLROnPlateau with an absolute
// threshold.
#include <algorithm>

#include "core/error.h"
#include "train/schedule/schedule_list.h"

namespace roentgen::train {
namespace {

class Plateau final : public Schedule {
 public:
  explicit Plateau(const ScheduleOptions& options) : options_(options) {
    if (options.patience < 0 || !(options.min_delta >= 0.0)) {
      throw ConfigError(
          error_text("train.schedule", "patience and min_delta", "at least 0", "a negative number", kSeeDefaults));
    }
  }

  [[nodiscard]] double lr(std::int64_t) const override { return options_.base_lr * factor_; }

  void observe(double metric) override {
    if (!has_best_ || metric < best_ - options_.min_delta) {
      best_ = metric;
      has_best_ = true;
      bad_ = 0;
      return;
    }
    if (++bad_ <= options_.patience) return;
    factor_ = std::max(factor_ * options_.gamma, options_.final_share);
    bad_ = 0;
  }

  [[nodiscard]] Value state() const override {
    Value state = Value::table();
    if (has_best_) state.set("best", best_);
    state.set("bad", bad_);
    state.set("factor", factor_);
    return state;
  }

  void restore(const Value& state) override {
    bad_ = state.at("bad").as_integer();
    factor_ = state.at("factor").as_double();
    const Value* best = state.find("best");
    has_best_ = best != nullptr;
    if (has_best_) best_ = best->as_double();
  }

 private:
  ScheduleOptions options_;
  double best_ = 0.0;
  bool has_best_ = false;
  std::int64_t bad_ = 0;
  double factor_ = 1.0;
};

}  // namespace

std::unique_ptr<Schedule> make_plateau_schedule(const ScheduleOptions& options) {
  return std::make_unique<Plateau>(options);
}

}  // namespace roentgen::train
