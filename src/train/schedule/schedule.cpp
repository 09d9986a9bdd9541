// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/schedule/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/error.h"
#include "train/schedule/schedule_list.h"

namespace roentgen::train {
namespace {

// Gradual warm-up (Goyal et al. 2017, section 2.2), linear in the step. It rises from warmup_start to the full rate of
// the inner schedule at the first step after the warm-up.
class Warmup final : public Schedule {
 public:
  Warmup(std::unique_ptr<Schedule> inner, const ScheduleOptions& options)
      : inner_(std::move(inner)), steps_(options.warmup_steps), start_(options.warmup_start) {}

  [[nodiscard]] double lr(std::int64_t step) const override {
    if (step >= steps_) return inner_->lr(step);
    const double share = static_cast<double>(step) / static_cast<double>(steps_);
    return inner_->lr(steps_) * (start_ + (1.0 - start_) * share);
  }
  void observe(double metric) override { inner_->observe(metric); }
  [[nodiscard]] Value state() const override { return inner_->state(); }
  void restore(const Value& state) override { inner_->restore(state); }

 private:
  std::unique_ptr<Schedule> inner_;
  std::int64_t steps_;
  double start_;
};

using Factory = std::unique_ptr<Schedule> (*)(const ScheduleOptions&);

struct Entry {
  std::string_view name;
  Factory make;
};

#define RG_SCHEDULE_ENTRY(name) Entry{#name, &make_##name##_schedule},
constexpr Entry kEntries[] = {RG_SCHEDULE_LIST(RG_SCHEDULE_ENTRY)};
#undef RG_SCHEDULE_ENTRY

void require(bool is_good, std::string_view option, std::string_view expected, double got) {
  if (!is_good) throw ConfigError(error_text("train.schedule", option, expected, std::to_string(got), kSeeDefaults));
}

void check(const ScheduleOptions& options) {
  require(std::isfinite(options.base_lr) && options.base_lr > 0.0, "lr", "a finite rate above 0", options.base_lr);
  require(options.total_steps >= 1, "total steps", "at least 1", static_cast<double>(options.total_steps));
  require(options.warmup_steps >= 0, "warm-up", "at least 0 steps", static_cast<double>(options.warmup_steps));
  require(options.warmup_start > 0.0 && options.warmup_start <= 1.0, "warmup_start", "above 0 and at most 1",
          options.warmup_start);
  require(options.gamma > 0.0 && options.gamma < 1.0, "gamma", "between 0 and 1", options.gamma);
  require(options.final_share >= 0.0 && options.final_share <= 1.0, "final_share", "0 to 1", options.final_share);
}

}  // namespace

double progress(const ScheduleOptions& options, std::int64_t step) {
  const auto done = static_cast<double>(step - options.warmup_steps);
  const auto all = static_cast<double>(std::max<std::int64_t>(options.total_steps - options.warmup_steps, 1));
  return std::clamp(done / all, 0.0, 1.0);
}

std::unique_ptr<Schedule> make_schedule(std::string_view name, const ScheduleOptions& options) {
  check(options);
  const auto* const entry = std::ranges::find(kEntries, name, &Entry::name);
  if (entry == std::end(kEntries)) {
    throw ConfigError(error_text("train.schedule", "name", "a known schedule", name,
                                 fmt::format("one of {}", fmt::join(schedule_names(), ", "))));
  }
  auto schedule = entry->make(options);
  if (options.warmup_steps == 0) return schedule;
  return std::make_unique<Warmup>(std::move(schedule), options);
}

std::vector<std::string_view> schedule_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kEntries) names.push_back(entry.name);
  return names;
}

}  // namespace roentgen::train
