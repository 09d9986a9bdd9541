// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/speed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace roentgen::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// 100 steps of about 0.1 s whose speeds differ by at most 0.5%.
std::vector<double> steady() {
  std::vector<double> times;
  for (int i = 0; i < 100; ++i) times.push_back(0.1 * (1.0 + 0.005 * std::sin(i * 1.7)));
  return times;
}

TEST(Speed, follows_the_formulas_of_tf_cnn_benchmarks) {
  // Speeds of 100, 200, 200 and 400 images/s: mean time 0.5625 s, median 200, deviations 100, 0, 0, 200.
  const Speed speed = speed_of(std::vector<double>{1.0, 0.5, 0.5, 0.25}, 100.0);
  EXPECT_DOUBLE_EQ(speed.mean, 100.0 / 0.5625);
  EXPECT_DOUBLE_EQ(speed.uncertainty, std::sqrt((125.0 * 125 + 25 * 25 + 25 * 25 + 175 * 175) / 4) / 2);
  EXPECT_DOUBLE_EQ(speed.jitter, 1.4826 * 50);
  EXPECT_DOUBLE_EQ(speed.min, 100.0);
  EXPECT_DOUBLE_EQ(speed.max, 400.0);
  EXPECT_DOUBLE_EQ(speed.variation, speed.uncertainty * 2 / 225);
  EXPECT_EQ(speed.steps, 4U);
}

TEST(Speed, has_the_text_that_scripts_parse) {
  EXPECT_EQ(tf_cnn_text({.mean = 362.53, .uncertainty = 0.46, .jitter = 0.71}),
            "images/sec: 362.5 +/- 0.5 (jitter = 0.7)");
}

TEST(Speed, of_a_steady_run_has_no_signs) {
  EXPECT_THAT(signs_of_unsteady_speed(steady()), IsEmpty());
  EXPECT_EQ(settled_from(steady()), 0U);
}

TEST(Speed, of_a_run_with_a_burst_names_its_steps) {
  std::vector<double> times = steady();
  for (std::size_t i = 40; i < 50; ++i) times[i] *= 1.1;
  EXPECT_THAT(signs_of_unsteady_speed(times),
              ElementsAre(HasSubstr("varies by"), HasSubstr("steps 41 to 50 took 10%")));
}

TEST(Speed, that_falls_until_the_end_has_not_settled) {
  std::vector<double> times = steady();
  for (std::size_t i = 0; i < times.size(); ++i) times[i] *= 1.0 + 0.002 * static_cast<double>(i);
  EXPECT_EQ(settled_from(times), std::nullopt);
  EXPECT_THAT(signs_of_unsteady_speed(times), testing::Contains(HasSubstr("use more warm-up steps")));
}

TEST(Speed, of_slow_first_steps_settles_after_them) {
  std::vector<double> times = steady();
  for (std::size_t i = 0; i < 20; ++i) times[i] *= 1.2;
  EXPECT_EQ(settled_from(times), 20U);
}

TEST(Speed, of_few_steps_is_not_judged_for_drift) {
  EXPECT_EQ(settled_from(std::vector<double>(19, 0.1)), std::nullopt);
  EXPECT_THAT(signs_of_unsteady_speed(std::vector<double>(19, 0.1)), IsEmpty());
}

}  // namespace
}  // namespace roentgen::bench
