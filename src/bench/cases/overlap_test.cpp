// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/overlap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/images_testing.h"
#include "bench/rounds.h"
#include "core/error.h"
#include "graph/text.h"
#include "runtime/core_list.h"

namespace roentgen::bench {
namespace {

using testing::HasSubstr;

using OverlapCase = ImagesTest;

TEST(LeastStep, is_the_longer_one_on_disjoint_cores_and_the_sum_of_the_work_on_shared_ones) {
  const StepTimes slow_input{.input_s = 3.0, .train_s = 2.0, .input_work_s = 6.0};
  EXPECT_DOUBLE_EQ(least_step_s(slow_input, Cores::Disjoint, 2), 3.0);
  EXPECT_DOUBLE_EQ(least_step_s(slow_input, Cores::Shared, 2), 5.0);
  EXPECT_DOUBLE_EQ(least_step_s(slow_input, Cores::Shared, 3), 4.0);
  EXPECT_DOUBLE_EQ(least_step_s({.input_s = 1.0, .train_s = 2.0}, Cores::Disjoint, 2), 2.0);
}

TEST(Interleave, goes_up_and_down_in_turn) {
  std::vector<std::size_t> order;
  const auto results = interleave(3, 2, [&](std::size_t arm) {
    order.push_back(arm);
    return 10.0 * static_cast<double>(arm) + static_cast<double>(order.size());
  });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 2, 1, 0}));
  EXPECT_EQ(results[0], (std::vector<double>{1.0, 6.0}));
  EXPECT_EQ(results[2], (std::vector<double>{23.0, 24.0}));
  EXPECT_DOUBLE_EQ(median_of(results[2], [](double value) { return 2.0 * value; }), 47.0);
}

TEST(OtherWork, is_seen_in_the_steps_that_are_judged) {
  const auto course = [](double step_s, double last_s) {
    return Course{.batch_s = {step_s, step_s, last_s}, .images = 3, .wall_s = 2 * step_s + last_s};
  };
  const std::vector<Course> quiet{course(1.0, 1.1), course(1.1, 1.0)}, bursts{course(1.0, 2.0), course(1.0, 2.0)},
      slower{course(1.0, 1.0), course(1.5, 1.5)};
  EXPECT_TRUE(signs_of_other_work({{"train", quiet, true}, {"overlapped", quiet, true}, {"input", bursts}}).empty());
  const auto of_steps = signs_of_other_work({{"train", quiet, true}, {"overlapped", bursts, true}});
  ASSERT_EQ(of_steps.size(), 2U) << "one a round";
  EXPECT_THAT(of_steps[0], HasSubstr("overlapped: the slowest step took 2.00 times the fastest; the machine was busy"));
  const auto of_rounds = signs_of_other_work({{"train", quiet, true}, {"overlapped", slower}});
  ASSERT_EQ(of_rounds.size(), 1U);
  EXPECT_THAT(of_rounds[0], HasSubstr("overlapped: the slowest round took 1.50 times the fastest"));
}

TEST_F(OverlapCase, measures_four_kinds_of_steps_with_an_emulated_device) {
  OverlapOptions options{.input = small(), .rounds = 2};
  options.input.device_images_per_s = 4000;  // 1 ms for a batch of 4
  const Value result = run_overlap(dataset_, options);
  EXPECT_EQ(result.at("consumer").as_string(), "emulated:4000");
  EXPECT_TRUE(result.at("emulated").as_bool());
  EXPECT_EQ(result.at("cores").as_string(), "disjoint");
  EXPECT_EQ(result.at("threads").as_integer(), 0);
  const Value& step = result.at("step_ms");
  for (const char* name : {"train", "sequential", "overlapped"}) EXPECT_GE(step.at(name).as_double(), 1.0) << name;
  EXPECT_GT(step.at("input").as_double(), 0.0);
  EXPECT_GT(step.at("input_work").as_double(), 0.0);
  const auto& rounds = result.at("by_round").as_array();
  ASSERT_EQ(rounds.size(), 2U);
  const auto& limits = result.at("limits").as_array();
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(limits[0].at("cores").as_string(), "disjoint");
  EXPECT_EQ(limits[1].at("cores").as_string(), "shared");
  double mean = 0.0;
  for (const Value& round : rounds) {
    const double least = std::max(round.at("input_ms").as_double(), round.at("train_ms").as_double());
    EXPECT_NEAR(round.at("ratio").as_double(), round.at("overlapped_ms").as_double() / least, 1e-9);
    mean += round.at("ratio").as_double() / 2.0;
  }
  EXPECT_NEAR(limits[0].at("ratio").as_double(), mean, 1e-9);
  EXPECT_EQ(limits[0].at("holds").as_bool(), limits[0].at("ratio").as_double() <= 1.05);
}

TEST_F(OverlapCase, trains_a_network_on_the_batches) {
  const graph::Graph net =
      graph::parse_graph(kNet, "tiny", {.batch = 4, .channels = 1, .image_px = 16, .labels = 3}).or_throw<Error>();
  OverlapOptions options{.input = small(), .rounds = 1};
  options.step = {.model = "tiny.graph", .graph = net, .labels = 3, .threads = 1};
  const Value result = run_overlap(dataset_, options);
  EXPECT_EQ(result.at("consumer").as_string(), "tiny.graph");
  EXPECT_FALSE(result.at("emulated").as_bool());
  EXPECT_EQ(result.at("cores").as_string(), "shared");
  EXPECT_EQ(result.at("threads").as_integer(), 1);
  EXPECT_GT(result.at("step_ms").at("train").as_double(), 0.0);
}

TEST_F(OverlapCase, keeps_input_and_computing_on_cores_of_their_own) {
  const runtime::CoreList all = runtime::usable_cores();
  if (all.size() < 2) GTEST_SKIP() << "NOT TESTED: this process may use one core only";
  const graph::Graph net =
      graph::parse_graph(kNet, "tiny", {.batch = 4, .channels = 1, .image_px = 16, .labels = 3}).or_throw<Error>();
  OverlapOptions options{.input = small(), .rounds = 1};
  options.input.cores = {all.front()};
  options.step = {.graph = net, .labels = 3};
  const Value result = run_overlap(dataset_, options);
  EXPECT_EQ(result.at("cores").as_string(), "disjoint");
  EXPECT_EQ(result.at("input_cores").as_string(), runtime::text_of({all.front()}));
  EXPECT_LT(result.at("threads").as_integer(), std::ssize(all));
  EXPECT_EQ(runtime::usable_cores(), all) << "bound during the measurement only";
  options.step.threads = static_cast<int>(all.size());
  EXPECT_THROW(static_cast<void>(run_overlap(dataset_, options)), ConfigError);
  options.input.cores = all;
  EXPECT_THROW(static_cast<void>(run_overlap(dataset_, options)), ConfigError);
}

TEST_F(OverlapCase, refuses_options_out_of_range) {
  OverlapOptions options{.input = small(), .rounds = 0};
  options.input.device_images_per_s = 4000;
  EXPECT_THROW(static_cast<void>(run_overlap(dataset_, options)), ConfigError);
  options.rounds = 1;
  options.input.steps = 0;
  EXPECT_THROW(static_cast<void>(run_overlap(dataset_, options)), ConfigError);
}

}  // namespace
}  // namespace roentgen::bench
