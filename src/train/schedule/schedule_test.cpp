// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/schedule/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>

#include "core/error.h"

namespace roentgen::train {
namespace {

TEST(Schedule, stays_finite_positive_and_at_most_the_base_rate) {
  for (const std::string_view name : schedule_names()) {
    for (const std::int64_t warmup : {0, 7}) {
      const auto schedule = make_schedule(
          name, {.base_lr = 0.3, .total_steps = 50, .warmup_steps = warmup, .milestones_steps = {20, 30}});
      for (std::int64_t step = 0; step < 60; ++step) {
        const double lr = schedule->lr(step);
        EXPECT_TRUE(std::isfinite(lr) && lr >= 0.0 && lr <= 0.3 + 1e-15) << name << " step " << step << ": " << lr;
      }
    }
  }
}

TEST(Schedule, warms_up_monotonically_to_the_base_rate) {
  for (const std::string_view name : schedule_names()) {
    const auto schedule = make_schedule(
        name, {.base_lr = 1.0, .total_steps = 40, .warmup_steps = 10, .warmup_start = 0.1, .milestones_steps = {20}});
    EXPECT_DOUBLE_EQ(schedule->lr(0), 0.1) << name;
    for (std::int64_t step = 1; step <= 10; ++step) EXPECT_GT(schedule->lr(step), schedule->lr(step - 1)) << name;
    EXPECT_DOUBLE_EQ(schedule->lr(10), 1.0) << name;
  }
}

TEST(Schedule, resumes_at_any_step_as_if_it_never_stopped) {
  for (const std::string_view name : schedule_names()) {
    const ScheduleOptions options{.base_lr = 1.0, .total_steps = 30, .warmup_steps = 3, .milestones_steps = {10, 20}};
    const auto straight = make_schedule(name, options);
    auto resumed = make_schedule(name, options);
    for (std::int64_t step = 0; step < 30; ++step) {
      if (step % 3 == 0) {
        const double metric = step < 12 ? 1.0 / static_cast<double>(step + 1) : 0.5;
        straight->observe(metric);
        resumed->observe(metric);
      }
      auto fresh = make_schedule(name, options);
      fresh->restore(resumed->state());
      resumed = std::move(fresh);
      EXPECT_EQ(straight->lr(step), resumed->lr(step)) << name << " step " << step;
    }
  }
}

TEST(Schedule, a_short_trial_may_end_within_the_warm_up) {
  for (const std::string_view name : schedule_names()) {
    const auto schedule = make_schedule(name, {.base_lr = 1.0, .total_steps = 5, .warmup_steps = 10});
    EXPECT_DOUBLE_EQ(schedule->lr(5), 0.55) << name;
  }
}

TEST(Constant, is_constant) {
  const auto schedule = make_schedule("constant", {.base_lr = 0.02, .total_steps = 5});
  EXPECT_EQ(schedule->lr(0), 0.02);
  EXPECT_EQ(schedule->lr(4), 0.02);
}

TEST(Multistep, drops_at_its_milestones) {
  const auto schedule =
      make_schedule("multistep", {.base_lr = 1.0, .total_steps = 30, .milestones_steps = {10, 20}, .gamma = 0.5});
  EXPECT_DOUBLE_EQ(schedule->lr(9), 1.0);
  EXPECT_DOUBLE_EQ(schedule->lr(10), 0.5);
  EXPECT_DOUBLE_EQ(schedule->lr(19), 0.5);
  EXPECT_DOUBLE_EQ(schedule->lr(20), 0.25);
}

TEST(Multistep, refuses_milestones_out_of_order) {
  EXPECT_THROW(static_cast<void>(make_schedule("multistep", {.total_steps = 9, .milestones_steps = {5, 2}})),
               ConfigError);
}

TEST(Cosine, falls_along_half_a_period) {
  const auto schedule = make_schedule("cosine", {.base_lr = 2.0, .total_steps = 100, .final_share = 0.1});
  EXPECT_DOUBLE_EQ(schedule->lr(0), 2.0);
  EXPECT_NEAR(schedule->lr(50), 1.1, 1e-12);
  EXPECT_NEAR(schedule->lr(25), 0.2 + 1.8 * (1.0 + std::sqrt(0.5)) / 2.0, 1e-12);
  EXPECT_NEAR(schedule->lr(100), 0.2, 1e-12);
  EXPECT_NEAR(schedule->lr(1000), 0.2, 1e-12);
}

TEST(Poly, falls_with_its_power) {
  const auto schedule = make_schedule("poly", {.base_lr = 1.0, .total_steps = 10, .power = 2.0});
  EXPECT_DOUBLE_EQ(schedule->lr(0), 1.0);
  EXPECT_NEAR(schedule->lr(5), 0.25, 1e-15);
  EXPECT_EQ(schedule->lr(10), 0.0);
}

TEST(Plateau, drops_after_patience_and_not_before) {
  const auto schedule =
      make_schedule("plateau", {.base_lr = 1.0, .total_steps = 99, .gamma = 0.1, .patience = 1, .min_delta = 0.01});
  schedule->observe(1.0);
  schedule->observe(0.995);  // better by less than min_delta, so no improvement
  EXPECT_DOUBLE_EQ(schedule->lr(0), 1.0);
  schedule->observe(1.0);  // second validation without improvement: the rate drops
  EXPECT_DOUBLE_EQ(schedule->lr(0), 0.1);
  schedule->observe(0.5);  // improvement resets the count
  schedule->observe(0.6);
  EXPECT_DOUBLE_EQ(schedule->lr(0), 0.1);
}

TEST(Plateau, never_falls_below_its_floor) {
  const auto schedule =
      make_schedule("plateau", {.base_lr = 1.0, .total_steps = 99, .gamma = 0.1, .final_share = 0.05, .patience = 0});
  for (int i = 0; i < 9; ++i) schedule->observe(1.0);
  EXPECT_DOUBLE_EQ(schedule->lr(0), 0.05);
}

std::string refusal(std::string_view name, const ScheduleOptions& options) {
  try {
    static_cast<void>(make_schedule(name, options));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(Schedule, refusals_say_what_there_is) {
  EXPECT_EQ(refusal("cosin", {.total_steps = 5}),
            "[train.schedule] name: expected a known schedule, got cosin; try one of constant, multistep, cosine, "
            "poly, plateau");
  EXPECT_EQ(
      refusal("poly", {.total_steps = 5, .power = 0.0}),
      "[train.schedule] power: expected a number above 0, got 0.000000; try a value in that range, such as the default "
      "that roentgen train --keys shows");
}

TEST(Schedule, refuses_bad_options) {
  EXPECT_THROW(static_cast<void>(make_schedule("cosin", {.total_steps = 5})), ConfigError);
  EXPECT_THROW(static_cast<void>(make_schedule("cosine", {.base_lr = 0.0, .total_steps = 5})), ConfigError);
  EXPECT_THROW(static_cast<void>(make_schedule("cosine", {.base_lr = NAN, .total_steps = 5})), ConfigError);
  EXPECT_THROW(static_cast<void>(make_schedule("cosine", {.total_steps = 5, .warmup_steps = -1})), ConfigError);
  EXPECT_THROW(static_cast<void>(make_schedule("poly", {.total_steps = 5, .power = 0.0})), ConfigError);
}

}  // namespace
}  // namespace roentgen::train
