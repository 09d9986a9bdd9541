// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/ablation.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "bench/images_testing.h"
#include "core/error.h"
#include "data/stage/pipeline.h"

namespace roentgen::bench {
namespace {

using AblationCase = ImagesTest;

TEST(Orders, have_a_buffer_that_little_data_does_not_only_fill) {
  EXPECT_EQ(order_sizes(2, 16, 100'000).buffer, 500);
  EXPECT_EQ(order_sizes(2, 16, 800).buffer, 100);
  EXPECT_EQ(order_sizes(2, 16, 3).buffer, 1);
}

TEST(Orders, hold_the_presets_with_other_sizes) {
  std::map<std::string_view, std::string> texts;
  for (const Order& order : ablation_orders({.workers = 3, .batch = 64, .buffer = 500})) {
    texts[order.name] = data::parse_pipeline(order.pipeline).text();
  }
  EXPECT_EQ(texts["default"], "samples | shuffle | shard | repeat | map_and_batch(parallel=3) | prefetch");
  std::string official = data::parse_pipeline("tf-official").text();
  official.replace(official.find("map_and_batch"), 13, "map_and_batch(parallel=3)");
  EXPECT_EQ(texts["tf-official"], official);
  std::string naive = data::parse_pipeline("naive").text();
  naive.replace(naive.find("map"), 3, "map(parallel=3)");
  EXPECT_EQ(texts["naive"], naive);
}

TEST(Orders, of_the_ablation_are_all_different_pipelines_from_the_official_to_the_naive_one) {
  const std::vector<Order> orders = ablation_orders({.workers = 2, .batch = 64, .buffer = 500});
  std::set<std::string> texts;
  std::set<std::string_view> names;
  for (const Order& order : orders) {
    texts.insert(data::parse_pipeline(order.pipeline).text());
    names.insert(order.name);
  }
  EXPECT_EQ(texts.size(), orders.size());
  EXPECT_EQ(names.size(), orders.size());
  EXPECT_EQ(orders.front().name, "tf-official");
  EXPECT_TRUE(texts.contains(data::parse_pipeline("naive").text()));
}

TEST_F(AblationCase, compares_every_order_with_the_official_one) {
  AblationOptions options{.input = small(), .rounds = 2};
  options.input.batch = 2;
  options.input.ranks = 2;
  options.input.storage = data::StorageCosts{.open_s = 1e-4};
  const Value result = run_ablation(dataset_, options);
  EXPECT_TRUE(result.at("emulated").as_bool());
  EXPECT_EQ(result.at("ranks").as_integer(), 2);
  EXPECT_EQ(result.at("base").as_string(), "tf-official");
  const auto& orders = result.at("orders").as_array();
  ASSERT_EQ(orders.size(), ablation_orders({}).size());
  EXPECT_DOUBLE_EQ(orders[0].at("of_base").as_double(), 1.0);
  for (const Value& order : orders) {
    EXPECT_GT(order.at("images_per_s").as_double(), 0.0);
    EXPECT_DOUBLE_EQ(order.at("lost").as_double(), 1.0 - order.at("of_base").as_double());
  }
  EXPECT_EQ(result.at("pipelines").as_array().size(), orders.size());
}

TEST_F(AblationCase, refuses_options_out_of_range) {
  AblationOptions options{.input = small(), .rounds = 0};
  EXPECT_THROW(static_cast<void>(run_ablation(dataset_, options)), ConfigError);
}

}  // namespace
}  // namespace roentgen::bench
