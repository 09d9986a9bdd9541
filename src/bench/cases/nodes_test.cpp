// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "core/error.h"
#include "dist/comm_thread.h"
#include "dist/local_group_testing.h"

namespace roentgen::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

NodeFigures node(double step_s, double copy_gb_per_s = 10.0, std::uint64_t weights = 7) {
  return {.step_s = step_s, .copy_gb_per_s = copy_gb_per_s, .weights = weights};
}

TEST(Nodes, that_take_longer_than_the_median_are_slow) {
  const std::vector<NodeFigures> ranks{node(1.0), node(1.1), node(1.3), node(1.0), node(0.5)};
  EXPECT_THAT(slow_nodes(ranks, 1.15), ElementsAre(2));
  EXPECT_THAT(slow_nodes(ranks, 1.05), ElementsAre(1, 2));
  EXPECT_THAT(slow_nodes(ranks, 1.5), IsEmpty()) << "a fast one is none";
}

TEST(Nodes, whose_memory_is_slow_are_slow) {
  const std::vector<NodeFigures> ranks{node(1.0), node(1.0, 5.0), node(1.0, 9.9)};
  EXPECT_THAT(slow_nodes(ranks, 1.15), ElementsAre(1));
}

TEST(Nodes, with_weights_that_most_have_not_are_odd) {
  const auto with = [](std::uint64_t weights) { return node(1.0, 10.0, weights); };
  EXPECT_THAT(odd_nodes(std::vector{with(1), with(1), with(1)}), IsEmpty());
  EXPECT_THAT(odd_nodes(std::vector{with(1), with(2), with(1)}), ElementsAre(1));
  EXPECT_THAT(odd_nodes(std::vector{with(1), with(2)}), ElementsAre(0, 1)) << "nobody knows who is right";
  EXPECT_THAT(odd_nodes(std::vector{with(1), with(1), with(2), with(3)}), ElementsAre(0, 1, 2, 3));
}

NodesOptions small() {
  NodesOptions options{.slow_factor = 1000.0};
  options.step.model = "resnet18";
  options.step.batch = 2;
  options.step.image_px = 32;
  options.step.steps = 3;
  options.step.threads = 1;
  options.step.algorithms = "direct";
  return options;
}

TEST(Nodes, come_to_the_same_weights_on_all_ranks) {
  constexpr int kRanks = 3;
  dist::LocalGroup group(kRanks);
  std::vector<Value> results(kRanks);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] {
        dist::CommThread comm([&] { return group.member(rank); }, std::chrono::minutes(1));
        results[static_cast<std::size_t>(rank)] = run_nodes(small(), comm);
      });
    }
  }
  for (const Value& result : results) {
    EXPECT_EQ(result.at("odd").as_integer(), 0);
    EXPECT_EQ(result.at("slow").as_integer(), 0);
    const Value::Array& nodes = result.at("nodes").as_array();
    ASSERT_EQ(nodes.size(), static_cast<std::size_t>(kRanks));
    EXPECT_EQ(nodes[2].at("rank").as_integer(), 2);
    EXPECT_EQ(nodes[2].at("host").as_string(), "here");
    EXPECT_EQ(nodes[2].at("weights"), nodes[0].at("weights"));
    EXPECT_GT(nodes[2].at("copy_gb_per_s").as_double(), 0.0);
  }
}

TEST(Nodes, options_out_of_range_are_refused) {
  dist::LocalGroup group(1);
  dist::CommThread comm([&] { return group.member(0); }, std::chrono::minutes(1));
  NodesOptions options = small();
  options.slow_factor = 1.0;
  EXPECT_THROW(static_cast<void>(run_nodes(options, comm)), ConfigError);
}

}  // namespace
}  // namespace roentgen::bench
