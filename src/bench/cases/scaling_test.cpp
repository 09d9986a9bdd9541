// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "bench/case_list.h"
#include "bench/emulated_executable.h"
#include "bench/network.h"
#include "core/error.h"
#include "dist/comm_thread.h"
#include "dist/local_group_testing.h"
#include "engine/engine.h"

namespace roentgen::bench {
namespace {

Value point(std::int64_t ranks, std::int64_t batch, double images_per_s, bool is_oversubscribed = false) {
  return Value::Table{{"case", "scaling"},
                      {"model", "m"},
                      {"image_px", 64},
                      {"threads", 1},
                      {"overlap", true},
                      {"update", "sync"},
                      {"servers", 0},
                      {"batch", batch},
                      {"ranks", ranks},
                      {"hosts", 1},
                      {"images_per_s", images_per_s},
                      {"comm_exposed", 0.25},
                      {"data_wait", 0.0},
                      {"imbalance", 0.125},
                      {"oversubscribed", is_oversubscribed},
                      {"kind", "measured"}};
}

// Records with other settings must not compare as equal.
TEST(Scaling, names_how_gradients_were_averaged) {
  const std::unique_ptr<Case> scaling = make_scaling_case();
  for (const Option& option : scaling->options()) {
    if (option.name == "--wire") *std::get<std::string*>(option.target) = "bf16";
    if (option.name == "--repeat") *std::get<std::int64_t*>(option.target) = 1;
  }
  Host host;
  host.graph_of_file = [](const NetworkOptions& /*network*/) { return std::optional<graph::Graph>(); };
  host.start_ranks = [](const RankRequest& asked, const std::vector<std::string>& /*changed*/) {
    EXPECT_EQ(asked.wire, "bf16");
    return point(asked.ranks, 8, 10.0);
  };
  const Value result = scaling->run(host);
  EXPECT_EQ(result.at("wire").as_string(), "bf16");
  EXPECT_EQ(result.at("reduce").as_string(), RankRequest{}.reduce);
  EXPECT_EQ(result.at("bucket_mb").as_double(), 4.0);
}

TEST(Scaling, efficiency_is_the_median_ratio_of_rounds) {
  // In three rounds, one rank has 10, 20 and 30 images/s. Two ranks have 18, 40 and 48; ideal would be 20, 40 and 60.
  std::vector<std::pair<std::int64_t, std::int64_t>> asked;
  std::int64_t round = -1;
  const Value result = run_scaling({.ranks = {1, 2}, .per_host = 2, .rounds = 3, .batch = 8},
                                   [&](std::int64_t ranks, std::int64_t batch) {
                                     asked.emplace_back(ranks, batch);
                                     if (ranks == 1) ++round;
                                     const double one = 10.0 * static_cast<double>(round + 1);
                                     const double two[] = {18.0, 40.0, 48.0};
                                     return point(ranks, batch, ranks == 1 ? one : two[round]);
                                   });
  EXPECT_EQ(asked.size(), 6U);
  EXPECT_EQ(asked[0], (std::pair<std::int64_t, std::int64_t>{1, 8}));
  EXPECT_EQ(asked[1], (std::pair<std::int64_t, std::int64_t>{2, 8})) << "interleaved, weak";
  const Value& row = result.at("points").as_array()[1];
  EXPECT_DOUBLE_EQ(row.at("efficiency").as_double(), 0.9);
  EXPECT_DOUBLE_EQ(row.at("efficiency_of_host").as_double(), 1.0);
  EXPECT_DOUBLE_EQ(row.at("images_per_s").as_double(), 40.0);
  EXPECT_DOUBLE_EQ(row.at("min").as_double(), 18.0);
  EXPECT_DOUBLE_EQ(row.at("max").as_double(), 48.0);
  EXPECT_NEAR(row.at("sd").as_double(),
              std::sqrt((17.333333 * 17.333333 + 4.666667 * 4.666667 + 12.666667 * 12.666667) / 2.0), 1e-4);
  EXPECT_DOUBLE_EQ(row.at("comm_exposed").as_double(), 0.25);
}

TEST(Scaling, with_fixed_cores_points_are_compared_as_a_whole) {
  const auto give = [](std::int64_t ranks, std::int64_t batch) {
    Value value = point(ranks, batch, ranks == 2 ? 30.0 : 20.0);
    value.set("threads", 4 / ranks);
    return value;
  };
  const Value result = run_scaling({.ranks = {1, 2, 4}, .cores = 4, .rounds = 3}, give);
  const Value::Array& rows = result.at("points").as_array();
  EXPECT_EQ(rows[0].at("speedup").as_double(), 1.0);
  EXPECT_EQ(rows[1].at("speedup").as_double(), 1.5);
  EXPECT_EQ(rows[2].at("speedup").as_double(), 1.0);
  EXPECT_EQ(rows[2].at("threads").as_integer(), 1);
  EXPECT_EQ(rows[1].find("efficiency"), nullptr);
}

TEST(Scaling, hosts_get_so_many_ranks_each) {
  EXPECT_EQ(hosts_with_ranks("a,b:7", 2), "a:2,b:2");
  EXPECT_EQ(hosts_with_ranks("", 2), "");
}

TEST(Scaling, a_strong_one_divides_the_batch) {
  const auto give = [](std::int64_t ranks, std::int64_t batch) { return point(ranks, batch, 1.0); };
  const Value result = run_scaling({.ranks = {1, 4}, .rounds = 1, .is_strong = true, .batch = 8}, give);
  EXPECT_EQ(result.at("points").as_array()[1].at("batch").as_integer(), 2);
  EXPECT_THROW(static_cast<void>(run_scaling({.ranks = {3}, .rounds = 1, .is_strong = true, .batch = 8}, give)),
               ConfigError);
}

TEST(Scaling, there_is_no_efficiency_of_ranks_that_take_turns) {
  const Value result = run_scaling({.ranks = {1, 8}, .rounds = 1}, [](std::int64_t ranks, std::int64_t batch) {
    return point(ranks, batch, 1.0, ranks == 8);
  });
  EXPECT_FALSE(result.at("points").as_array()[0].at("efficiency").is_null());
  EXPECT_TRUE(result.at("points").as_array()[1].at("efficiency").is_null());
}

TEST(Scaling, efficiency_counts_from_one_rank_wherever_it_stands) {
  const auto give = [](std::int64_t ranks, std::int64_t batch) {
    return point(ranks, batch, ranks == 1 ? 10.0 : 14.0);
  };
  const Value both = run_scaling({.ranks = {2, 1}, .rounds = 1}, give);
  EXPECT_DOUBLE_EQ(both.at("points").as_array()[0].at("efficiency").as_double(), 0.7);
  EXPECT_DOUBLE_EQ(both.at("points").as_array()[1].at("efficiency").as_double(), 1.0);
  const Value two = run_scaling({.ranks = {2}, .rounds = 1}, give);
  EXPECT_TRUE(two.at("points").as_array()[0].at("efficiency").is_null()) << "one rank was not measured";
}

TEST(Scaling, emulated_ranks_without_a_core_each_take_turns) {
  const int ranks = static_cast<int>(std::thread::hardware_concurrency()) + 1;
  dist::LocalGroup group(ranks);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      dist::CommThread comm([&] { return group.member(rank); }, std::chrono::minutes(1));
      ScalingOptions options{.device_images_per_s = 1000.0};
      options.step = {.model = "resnet18", .batch = 1, .image_px = 32, .warmup = 1, .steps = 1, .threads = 1};
      EXPECT_TRUE(run_scaling_point(options, &comm).at("oversubscribed").as_bool());
    });
  }
}

TEST(Scaling, a_point_counts_the_images_of_all_ranks) {
  for (const double rate : {0.0, 200.0}) {
    dist::LocalGroup group(2);
    std::mutex mutex;
    std::vector<Value> results;
    {
      std::vector<std::jthread> ranks;
      for (int rank = 0; rank < 2; ++rank) {
        ranks.emplace_back([&, rank] {
          dist::CommThread comm([&] { return group.member(rank); }, std::chrono::minutes(1));
          ScalingOptions options;
          options.step = {.model = "resnet18", .batch = 2, .image_px = 32, .warmup = 1, .steps = 2, .threads = 1};
          options.device_images_per_s = rate;
          options.is_overlapped = rate > 0.0;
          Value result = run_scaling_point(options, &comm);
          const std::scoped_lock lock(mutex);
          results.push_back(std::move(result));
        });
      }
    }
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[0].at("ranks").as_integer(), 2);
    EXPECT_EQ(results[0].at("hosts").as_integer(), 1);
    EXPECT_EQ(results[0].at("kind").as_string(), rate > 0.0 ? "emulated" : "measured");
    EXPECT_GT(results[0].at("images_per_s").as_double(), 0.0);
    EXPECT_GE(results[0].at("comm_exposed").as_double(), 0.0);
    // Two ranks with 200 images/s each have at most 400 images/s, even on a busy machine.
    const double most = rate > 0.0 ? 2.0 * rate : 1e9;
    EXPECT_LE(results[0].at("images_per_s").as_double(), most);
  }
}

TEST(Scaling, a_calibrated_point_tells_the_slowest_rank_and_a_host_by_name) {
  dist::LocalGroup group(3, {"a", "a", "b"});
  std::mutex mutex;
  std::vector<Value> results;
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < 3; ++rank) {
      ranks.emplace_back([&, rank] {
        dist::CommThread comm([&] { return group.member(rank); }, std::chrono::minutes(1));
        ScalingOptions options{.is_calibrated = true};
        options.step = {.model = "resnet18", .batch = 1, .image_px = 32, .warmup = 1, .steps = 4, .threads = 1};
        Value result = run_scaling_point(options, &comm);
        const std::scoped_lock lock(mutex);
        results.push_back(std::move(result));
      });
    }
  }
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].at("hosts").as_integer(), 2);
  EXPECT_EQ(results[0].at("calibration").at("steps").as_array().size(), 5U);
  EXPECT_THAT(results[0].at("disturbance").at("host").as_string(), testing::AnyOf("a", "b"));
  EXPECT_TRUE(results[0].at("disturbance").at("other_cores").is_number());
  for (const char* key : {"calibration", "disturbance"}) {
    EXPECT_EQ(results[0].at(key), results[1].at(key)) << "of all ranks";
    EXPECT_EQ(results[0].at(key), results[2].at(key)) << "of all ranks";
  }
}

TEST(EmulatedExecutable, has_the_buckets_of_the_real_one_in_their_order) {
  const auto engine = engine::make_engine("cpu");
  const NetworkOptions step{.model = "resnet18", .batch = 2, .image_px = 32};
  auto real = compile_step(step, *engine, {.threads = 1, .slots = 1});
  const StepCourse course = measure_course(*real, 1);
  ASSERT_EQ(course.buckets_ready.size(), real->buckets().size());
  EXPECT_TRUE(std::ranges::is_sorted(course.buckets_ready));
  EXPECT_GT(course.forward_over, 0.0);
  EXPECT_GE(course.buckets_ready.front(), course.forward_over);
  EXPECT_LE(course.buckets_ready.back(), 1.0);
  const std::size_t count = real->buckets().size();
  const auto emulated = make_emulated_executable(std::move(real), course, 1e-3);
  std::vector<std::int64_t> called;
  emulated->forward();
  emulated->backward([&](std::int64_t bucket, const runtime::Event&) { called.push_back(bucket); });
  ASSERT_EQ(called.size(), count);
  EXPECT_TRUE(std::ranges::is_sorted(called));
  EXPECT_EQ(emulated->read("loss")[0], 1.0F);
}

}  // namespace
}  // namespace roentgen::bench
