// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/autobatch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "core/sanitizer_testing.h"

namespace roentgen::bench {
namespace {

constexpr std::int64_t kMost = 1000;

// Expects largest_batch() to equal the result of trying all batches, for every budget.
void expect_largest(const std::function<std::size_t(std::int64_t)>& needed) {
  for (std::size_t budget = 1; budget < 12000; budget += 97) {
    std::int64_t expected = 0;
    while (expected < kMost && needed(expected + 1) <= budget) ++expected;
    std::vector<PlannedBatch> tried;
    EXPECT_EQ(largest_batch(needed, budget, kMost, tried), expected) << budget;
    EXPECT_LE(tried.size(), 16U) << budget;
    if (expected == 0 || expected == kMost) continue;
    EXPECT_TRUE(std::ranges::any_of(tried, [&](const PlannedBatch& each) { return each.batch == expected + 1; }));
  }
}

TEST(Autobatch, finds_the_largest_batch_in_few_plans) {
  expect_largest([](std::int64_t batch) { return static_cast<std::size_t>(500 + 7 * batch); });
  expect_largest([](std::int64_t batch) { return static_cast<std::size_t>(3 * batch); });
  // Memory that jumps by 800 after batch 64, as when the engine chooses another kernel.
  expect_largest([](std::int64_t batch) { return static_cast<std::size_t>(100 + 9 * batch + (batch > 64 ? 800 : 0)); });
}

TEST(Autobatch, reads_sizes_with_units) {
  EXPECT_EQ(parse_bytes("--memory", "8GiB"), std::size_t{8} << 30U);
  EXPECT_EQ(parse_bytes("--memory", "1.5 MiB"), std::size_t{3} << 19U);
  EXPECT_EQ(parse_bytes("--memory", "500MB"), 500'000'000U);
  EXPECT_EQ(parse_bytes("--memory", "4096"), 4096U);
  for (const char* text : {"", "GiB", "8 gigs", "-1GiB", "0", "1e40", "8GiB more", "nan"}) {
    try {
      static_cast<void>(parse_bytes("--memory", text));
      ADD_FAILURE() << text << " was taken";
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith("[bench.autobatch] --memory: expected a memory size")) << text;
    }
  }
}

AutobatchOptions small() {
  return {.network =
              {.model = "resnet18", .image_px = 64, .channels = 1, .labels = 3, .threads = 1, .algorithms = "direct"},
          .budget_bytes = std::size_t{220} << 20U};
}

TEST(Autobatch, plans_the_largest_batch_and_one_step_at_it_stays_within_the_budget) {
  if (!kIsMemoryOurs) GTEST_SKIP() << kMemoryIsNotOurs;
  const Value result = run_autobatch(small());
  const std::int64_t batch = result.at("largest_batch").as_integer();
  const auto budget = static_cast<std::int64_t>(small().budget_bytes);
  EXPECT_LE(result.at("needed_bytes").as_integer(), budget);
  bool is_larger_tried = false;
  for (const Value& each : result.at("tried").as_array()) {
    EXPECT_EQ(each.at("fits").as_bool(), each.at("batch").as_integer() <= batch);
    is_larger_tried |= each.at("batch").as_integer() > batch;
  }
  EXPECT_TRUE(is_larger_tried);
  const Value& confirmed = result.at("confirmed");
  EXPECT_GT(confirmed.at("images_per_s").as_double(), 0.0);
  EXPECT_GT(confirmed.at("peak_bytes").as_integer(), budget / 2) << "far less than was planned";
  EXPECT_LE(confirmed.at("peak_bytes").as_integer(), budget);
  EXPECT_TRUE(confirmed.at("fits").as_bool());
}

TEST(Autobatch, a_step_that_holds_too_much_is_tried_with_as_many_images_fewer) {
  const PlannedBatch one{1, 1000};
  EXPECT_EQ(batch_below({11, 2000}, one, 1), 10);
  EXPECT_EQ(batch_below({11, 2000}, one, 100), 10);
  EXPECT_EQ(batch_below({11, 2000}, one, 101), 9);
  EXPECT_EQ(batch_below({11, 2000}, one, 250), 8);
  EXPECT_EQ(batch_below({11, 2000}, one, 5000), 1);
  EXPECT_EQ(batch_below({2, 1000}, one, 5000), 1) << "no slope";
  EXPECT_EQ(batch_below({5, 1000}, one, 5000), 4) << "no slope";
}

// One image takes 10 bytes, the process 100 bytes, and a step 25 bytes more than planned.
TEST(Autobatch, goes_down_until_a_step_fits) {
  const auto needed = [](std::int64_t batch) { return static_cast<std::size_t>(100 + 10 * batch); };
  std::vector<std::int64_t> run;
  const auto held = [&](std::int64_t batch) {
    run.push_back(batch);
    return needed(batch) + 25;
  };
  std::vector<PlannedBatch> tried{{1, needed(1)}, {10, needed(10)}, {11, needed(11)}};
  EXPECT_EQ(confirmed_batch(needed, held, 200, tried), 7);
  EXPECT_THAT(run, testing::ElementsAre(10, 7));
  ASSERT_EQ(tried.size(), 4U);
  for (const PlannedBatch& each : tried) EXPECT_EQ(each.fits(200), each.batch <= 7) << each.batch;
  EXPECT_EQ(tried[2].measured_bytes, 225U);
  run.clear();
  tried = {{1, needed(1)}, {2, needed(2)}};
  EXPECT_EQ(confirmed_batch(needed, held, 115, tried), 0) << "not even one image";
  EXPECT_THAT(run, testing::ElementsAre(1));
}

TEST(Autobatch, recomputation_makes_room_for_more) {
  if (!kIsMemoryOurs) GTEST_SKIP() << kMemoryIsNotOurs;
  AutobatchOptions options = small();
  options.budget_bytes = std::size_t{500} << 20U;  // enough for many images, whatever earlier tests have loaded
  options.is_confirmed = false;
  options.network.recompute = "none";
  const std::int64_t kept = run_autobatch(options).at("largest_batch").as_integer();
  options.network.recompute = "all";
  EXPECT_GT(run_autobatch(options).at("largest_batch").as_integer(), kept);
}

TEST(Autobatch, a_budget_too_small_for_one_image_is_refused_with_what_it_takes) {
  AutobatchOptions options = small();
  options.budget_bytes = 1000;
  try {
    static_cast<void>(run_autobatch(options));
    FAIL() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("MiB, for a batch of one image"));
  }
}

}  // namespace
}  // namespace roentgen::bench
