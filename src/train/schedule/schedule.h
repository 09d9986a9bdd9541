// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Schedule: the learning rate as a function of the step. Only `plateau` also uses validation results.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"

namespace roentgen::train {

/// Settings of all schedules; each schedule reads only its own. All times are optimizer steps, counted from 0.
struct ScheduleOptions {
  /// Learning rate after warm-up; > 0.
  double base_lr = 0.1;
  /// Number of steps of the whole run; >= 1.
  std::int64_t total_steps = 1;
  /// Number of steps of linear warm-up, after which the schedule itself begins; 0 for none. A run may end during
  /// warm-up.
  std::int64_t warmup_steps = 0;
  /// Learning rate at the start of warm-up, as a share of the base rate, in (0, 1].
  double warmup_start = 0.1;
  /// multistep: steps at which the rate is multiplied by gamma; ascending.
  std::vector<std::int64_t> milestones_steps;
  /// multistep, plateau: factor of each drop, in (0, 1).
  double gamma = 0.1;
  /// cosine, poly, plateau: lowest rate, as a share of the base rate, in [0, 1].
  double final_share = 0.0;
  /// poly: exponent, > 0.
  double power = 2.0;
  /// plateau: number of validations without improvement before the rate drops.
  std::int64_t patience = 1;
  /// plateau: smallest change that counts as an improvement, in the metric's units.
  double min_delta = 1e-4;
};

/// Learning rate as a function of the step. Immutable, except for plateau. Thread-compatible.
class Schedule {
 public:
  virtual ~Schedule() = default;
  /// Learning rate of the update at `step`; finite and >= 0.
  [[nodiscard]] virtual double lr(std::int64_t step) const = 0;
  /// Reports the result of a validation; lower is better. Only plateau uses it.
  virtual void observe(double metric) { static_cast<void>(metric); }
  /// State to store in a checkpoint in addition to the step. Null if the schedule depends only on the step.
  [[nodiscard]] virtual Value state() const { return {}; }
  /// Restores state(). Throws ConfigError if it belongs to another schedule.
  virtual void restore(const Value& state) { static_cast<void>(state); }
};

/// Makes the schedule `name`, with linear warm-up first if warmup_steps > 0. Throws ConfigError for an unknown name,
/// listing the known ones, or an option that is out of range.
[[nodiscard]] std::unique_ptr<Schedule> make_schedule(std::string_view name, const ScheduleOptions& options);
/// Names of all schedules, in the order of schedule_list.h.
[[nodiscard]] std::vector<std::string_view> schedule_names();

}  // namespace roentgen::train
