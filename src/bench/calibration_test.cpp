// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/disturbance.h"
#include "bench/harness.h"
#include "io/json.h"

namespace roentgen::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Calibration of 100 steps with these times of computing, in milliseconds.
Calibration computing(const std::vector<double>& ms) {
  Calibration made;
  for (std::size_t i = 0; i < ms.size(); ++i) {
    made.steps.push_back(static_cast<std::int64_t>(100 * i / (ms.size() - 1)));
    made.samples.push_back({.compute_s = ms[i] / 1e3, .copy_s = 2e-3});
  }
  return made;
}

std::vector<double> steps_of(double first_half_s, double second_half_s) {
  std::vector<double> step_s(100, first_half_s);
  std::fill(step_s.begin() + 50, step_s.end(), second_half_s);
  return step_s;
}

TEST(Calibration, names_the_steps_in_which_the_machine_was_slower) {
  EXPECT_THAT(signs_of(computing({1.0, 1.0, 1.05, 1.1, 1.1}), steps_of(0.2, 0.216)),
              ElementsAre("the machine itself computed 9% slower in steps 76 to 100 than in steps 1 to 25, and the "
                          "steps took 8% longer"));
}

TEST(Calibration, is_no_cause_if_the_steps_did_not_follow_the_machine) {
  EXPECT_THAT(signs_of(computing({1.2, 1.2, 1.0, 1.0, 1.0}), steps_of(0.2, 0.21)), IsEmpty());
}

TEST(Calibration, is_no_cause_if_only_one_sample_was_slow) {
  EXPECT_THAT(signs_of(computing({1.0, 1.0, 1.0, 1.0, 1.5}), steps_of(0.2, 0.216)), IsEmpty());
  EXPECT_THAT(signs_of(computing({1.0, 1.0, 1.5, 1.0, 1.0}), steps_of(0.2, 0.216)), IsEmpty());
  EXPECT_THAT(signs_of(computing({1.0, 1.25}), steps_of(0.2, 0.216)), IsEmpty()) << "two samples are too few";
}

TEST(Calibration, of_a_steady_machine_has_no_signs) {
  EXPECT_THAT(signs_of(computing({1.0, 1.01, 1.02, 1.01, 1.0}), steps_of(0.2, 0.3)), IsEmpty());
  EXPECT_THAT(signs_of({}, steps_of(0.2, 0.3)), IsEmpty());
}

TEST(Calibration, knows_copying_too) {
  Calibration made = computing({1.0, 1.0, 1.0, 1.0, 1.0});
  made.samples[3].copy_s = made.samples[4].copy_s = 4e-3;
  EXPECT_THAT(signs_of(made, steps_of(0.2, 0.24)),
              ElementsAre("the machine itself copied 50% slower in steps 76 to 100 than in steps 1 to 25, and the "
                          "steps took 20% longer"));
}

TEST(Calibration, of_several_ranks_is_that_of_the_slowest_in_each_sample) {
  const Calibration slowest = slowest_of({computing({1.0, 3.0, 1.0}), computing({2.0, 1.0, 1.0})});
  EXPECT_DOUBLE_EQ(slowest.samples[0].compute_s, 2e-3);
  EXPECT_DOUBLE_EQ(slowest.samples[1].compute_s, 3e-3);
  EXPECT_DOUBLE_EQ(slowest.samples[2].compute_s, 1e-3);
}

TEST(Calibration, is_read_from_its_table) {
  const Value table = to_value(computing({1.0, 1.5}));
  const Value stored = io::parse_json(io::to_json(table), "record").or_throw();
  const Calibration read = calibration_in(stored);
  EXPECT_THAT(read.steps, ElementsAre(0, 100));
  EXPECT_DOUBLE_EQ(read.samples[1].compute_s, 1.5e-3);
  EXPECT_DOUBLE_EQ(read.samples[1].copy_s, 2e-3);
  EXPECT_TRUE(to_value(Calibration{}).is_null());
}

TEST(Calibration, of_a_damaged_record_is_empty) {
  Value table = to_value(computing({1.0, 1.5}));
  table.set("copy_s", samples_of(std::vector{1.0}));
  EXPECT_THAT(calibration_in(table).samples, IsEmpty());
  table.set("copy_s", samples_of(std::vector{1.0, 0.0}));
  EXPECT_THAT(calibration_in(table).samples, IsEmpty());
  table.set("copy_s", "fast");
  EXPECT_THAT(calibration_in(table).samples, IsEmpty());
  EXPECT_THAT(calibration_in(Value("none")).samples, IsEmpty());
}

TEST(MachineSpeeds, are_medians_and_the_clock_of_the_gpu) {
  const Value cpu = Value::Table{{"calibration", to_value(computing({1.0, 2.0, 9.0}))}};
  const std::vector<NamedSpeed> speeds = machine_speeds_in(cpu);
  ASSERT_EQ(speeds.size(), 2U);
  EXPECT_EQ(speeds[0].name, "compute");
  EXPECT_DOUBLE_EQ(speeds[0].value, 500.0);
  EXPECT_DOUBLE_EQ(speeds[0].lowest, 1e3 / 9.0);
  EXPECT_DOUBLE_EQ(speeds[0].highest, 1000.0);
  EXPECT_EQ(speeds[1].name, "copy");
  const std::vector<NamedSpeed> card = machine_speeds_in(
      Value::Table{{"calibration", Value()}, {"disturbance", to_value(Disturbance{.gpu_mhz = 1980.0})}});
  ASSERT_EQ(card.size(), 1U);
  EXPECT_EQ(card[0].name, "gpu_clock");
  EXPECT_DOUBLE_EQ(card[0].value, 1980.0);
  EXPECT_THAT(machine_speeds_in(Value::table()), IsEmpty());
}

}  // namespace
}  // namespace roentgen::bench
