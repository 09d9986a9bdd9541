// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/predict_scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/error.h"

namespace roentgen::bench {
namespace {

// A step with two buckets of 1 MB, ready at half of the step and at its end.
MeasuredStep step_of(std::vector<double> step_s) {
  return {.step_s = std::move(step_s),
          .course = {.forward_over = 0.25, .buckets_ready = {0.5, 1.0}},
          .bucket_bytes = {1e6, 1e6}};
}
// Cluster with one rank on each host, links of 10 MB/s and no latency. Two ranks average 1 MB in 0.1 s, four in 0.15 s.
constexpr Cluster kSlow{.per_host = 1, .between_hosts = {.bytes_per_s = 1e7, .latency_s = 0.0}};

double only(const std::vector<double>& times) {
  for (const double time : times) EXPECT_DOUBLE_EQ(time, times.front());
  return times.front();
}

TEST(PredictScaling, units_are_read) {
  EXPECT_DOUBLE_EQ(parse_bandwidth("1Gbit"), 125e6);
  EXPECT_DOUBLE_EQ(parse_bandwidth("100Mbit"), 12.5e6);
  EXPECT_DOUBLE_EQ(parse_bandwidth("2.5 GB"), 2.5e9);
  EXPECT_DOUBLE_EQ(parse_duration("50us"), 50e-6);
  for (const char* text : {"", "1", "1Gb", "-1Gbit", "Gbit", "infGbit", "nanGbit", "1e305Gbit"}) {
    EXPECT_THROW(static_cast<void>(parse_bandwidth(text)), ConfigError) << text;
  }
  EXPECT_THROW(static_cast<void>(parse_duration("5m")), ConfigError);
}

TEST(PredictScaling, a_ring_sends_each_byte_nearly_twice) {
  EXPECT_EQ(allreduce_time(1e6, 1, kSlow).busy_s, 0.0);
  EXPECT_DOUBLE_EQ(allreduce_time(1e6, 2, kSlow).busy_s, 0.1);
  EXPECT_DOUBLE_EQ(allreduce_time(1e6, 4, kSlow).busy_s, 0.15);
  EXPECT_EQ(allreduce_time(1e6, 4, kSlow).late_s, 0.0);
  Cluster late = kSlow;
  late.between_hosts.latency_s = 1e-3;
  EXPECT_DOUBLE_EQ(allreduce_time(1e6, 4, late).busy_s, 0.15);
  EXPECT_DOUBLE_EQ(allreduce_time(1e6, 4, late).late_s, 6e-3);
  EXPECT_EQ(allreduce_time(1e6, 1, late).late_s, 0.0);
  Cluster one_host = kSlow;
  one_host.per_host = 4;
  one_host.within_host = {.bytes_per_s = 1e9, .latency_s = 0.0};
  EXPECT_DOUBLE_EQ(allreduce_time(1e6, 4, one_host).busy_s, 0.0015);
  // A ring over two hosts uses links within and between hosts; the slower link determines the time.
  Cluster two_hosts = one_host;
  two_hosts.per_host = 2;
  EXPECT_DOUBLE_EQ(allreduce_time(1e6, 4, two_hosts).busy_s, 0.15);
  two_hosts.between_hosts = {.bytes_per_s = 4e9, .latency_s = 1e-3};
  EXPECT_DOUBLE_EQ(allreduce_time(1e6, 4, two_hosts).busy_s, 0.0015);
  EXPECT_DOUBLE_EQ(allreduce_time(1e6, 4, two_hosts).late_s, 6e-3);
}

TEST(PredictScaling, buckets_follow_each_other_and_the_last_one_s_latency_counts) {
  Cluster late = kSlow;
  late.between_hosts.latency_s = 0.1;
  // The second message leaves the link at 1.1 s and arrives two latencies later; the first has arrived at 0.8 s.
  EXPECT_DOUBLE_EQ(only(simulate_steps(step_of({1.0}), 2, late, 5, true, 1)), 1.3);
  EXPECT_DOUBLE_EQ(only(simulate_steps(step_of({1.0}), 2, late, 5, false, 1)), 1.4);
  EXPECT_DOUBLE_EQ(only(simulate_steps(step_of({1.0}), 1, late, 5, false, 1)), 1.0);
}

TEST(PredictScaling, the_first_bucket_hides_behind_the_rest_of_backward) {
  // With 1 s of computation, averaging of the first bucket ends at 0.6 s, and of the second at 1.1 s.
  EXPECT_DOUBLE_EQ(only(simulate_steps(step_of({1.0}), 2, kSlow, 5, true, 1)), 1.1);
  // Without overlap, both buckets are sent after the backward pass.
  EXPECT_DOUBLE_EQ(only(simulate_steps(step_of({1.0}), 2, kSlow, 5, false, 1)), 1.2);
  // With 0.1 s of computation, the link is the bottleneck: it is busy for 0.2 s from 0.05 s on.
  EXPECT_DOUBLE_EQ(only(simulate_steps(step_of({0.1}), 2, kSlow, 5, true, 1)), 0.25);
  EXPECT_DOUBLE_EQ(only(simulate_steps(step_of({0.1}), 1, kSlow, 5, true, 1)), 0.1);
}

TEST(PredictScaling, a_step_is_the_slowest_of_many) {
  Cluster free;
  free.per_host = 64;
  free.within_host = {.bytes_per_s = 1e30, .latency_s = 0.0};
  const auto mean = [&](std::int64_t ranks) {
    const auto times = simulate_steps(step_of({1.0, 1.0, 1.0, 2.0}), ranks, free, 4000, true, 7);
    return std::accumulate(times.begin(), times.end(), 0.0) / 4000.0;
  };
  // Expected value: 1 + the probability that at least one rank draws the slow step. Tolerance: five standard errors of
  // 4000 draws.
  EXPECT_NEAR(mean(1), 1.25, 0.04);
  EXPECT_NEAR(mean(4), 1.0 + (1.0 - 0.31640625), 0.04);
  EXPECT_NEAR(mean(64), 2.0, 1e-6);
}

TEST(PredictScaling, steps_of_a_device_vary_as_a_normal_distribution) {
  EXPECT_EQ(normal_steps(2.0, 0.0, 1000), std::vector<double>{2.0});
  const std::vector<double> times = normal_steps(2.0, 0.1, 1000);
  ASSERT_EQ(times.size(), 1000U);
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / 1000.0;
  double squares = 0.0;
  for (const double time : times) squares += (time - mean) * (time - mean);
  EXPECT_NEAR(mean, 2.0, 1e-9);
  EXPECT_NEAR(std::sqrt(squares / 999.0), 0.2, 0.002) << "the outermost thousandths stand for all beyond";
  // The 97.5% quantile lies 1.95996 standard deviations above the mean. Index 974 is the 97.45% quantile, 1.9516
  // deviations above it.
  EXPECT_NEAR(times[974], 2.0 + 0.2 * 1.9516, 1e-3);
}

TEST(PredictScaling, runs_on_a_measured_step) {
  PredictOptions options;
  options.step = {.model = "resnet18", .batch = 2, .image_px = 32, .warmup = 1, .steps = 2, .threads = 1};
  options.device_images_per_s = 20.0;
  options.ranks = {1, 2, 8};
  options.cluster = {.per_host = 1, .between_hosts = {.bytes_per_s = parse_bandwidth("100Mbit"), .latency_s = 1e-4}};
  const Value result = run_predict_scaling(options);
  const auto& points = result.at("points").as_array();
  ASSERT_EQ(points.size(), 3U);
  EXPECT_NEAR(points[0].at("images_per_s").as_double(), 20.0, 1e-9);
  EXPECT_DOUBLE_EQ(points[0].at("efficiency").as_double(), 1.0);
  // Averaging 11.2 million parameters takes 3.6 s at 12.5 MB/s; a step takes 0.1 s.
  EXPECT_NEAR(points[1].at("comm_ms").as_double(), 3580.0, 30.0);
  EXPECT_LT(points[1].at("efficiency").as_double(), 0.03);
  EXPECT_EQ(points[2].at("hosts").as_integer(), 8);
  EXPECT_EQ(points[2].at("kind").as_string(), "predicted");
}

}  // namespace
}  // namespace roentgen::bench
