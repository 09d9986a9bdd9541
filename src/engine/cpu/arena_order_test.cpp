// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CompileOptions::arena_order: where parameters and gradients lie, and that nothing else depends on it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/cpu/executable.h"
#include "engine/cpu/step_bits_testing.h"
#include "engine/engine.h"
#include "graph/loss.h"
#include "models/model.h"

namespace roentgen::engine::cpu {
namespace {

graph::Graph model(const std::string& name) {
  return graph::with_loss(models::build_model({.name = name, .labels = 3, .channels = 1, .image_px = 32, .batch = 2}),
                          {});
}

std::vector<std::string> order_of(const Executable& executable) {
  std::vector<std::string> names;
  for (const ParameterSlice& slice : executable.slices()) {
    names.push_back(executable.graph().parameter(slice.parameter).name);
  }
  return names;
}

TEST(ArenaOrder, moves_gradients_and_none_of_their_bits) {
  const graph::Graph graph = model("resnet18");
  const CompileOptions options{.threads = 1, .slots = 1, .bucket_bytes = 1U << 20};
  const auto usual = make_executable(graph, options);
  CompileOptions turned = options;
  turned.arena_order = order_of(*usual);
  std::ranges::reverse(turned.arena_order);
  const auto other = make_executable(graph, turned);
  EXPECT_EQ(order_of(*other), turned.arena_order);
  EXPECT_EQ(other->plan().hash(), usual->plan().hash());
  EXPECT_EQ(bits_of_one_step(*other), bits_of_one_step(*usual));
}

TEST(ArenaOrder, leaves_buckets_final_when_they_are_announced) {
  const graph::Graph graph = model("densenet121");
  CompileOptions options{.threads = 1, .slots = 1, .bucket_bytes = 1U << 18};
  options.arena_order = order_of(*make_executable(graph, options));
  // A few are final much earlier than those they travel with.
  std::ranges::rotate(options.arena_order, options.arena_order.begin() + 37);
  const auto executable = make_executable(graph, options);
  initialise(*executable, 1);
  std::vector<float> seen(executable->gradients().size());
  std::int64_t announced = 0;
  executable->forward();
  executable->backward([&](std::int64_t index) {
    EXPECT_EQ(index, announced++);
    const Bucket& bucket = executable->buckets()[static_cast<std::size_t>(index)];
    std::copy_n(executable->gradients().begin() + bucket.begin, bucket.count, seen.begin() + bucket.begin);
  });
  EXPECT_EQ(announced, std::ssize(executable->buckets()));
  EXPECT_GT(announced, 5);
  EXPECT_TRUE(std::ranges::equal(seen, executable->gradients()));
}

TEST(ArenaOrder, makes_other_kernels_lay_out_the_same) {
  const graph::Graph graph = model("resnet18");
  CompileOptions options{.threads = 1, .slots = 1, .bucket_bytes = 1U << 20};
  const auto direct = make_executable(graph, options);
  options.arena_order = order_of(*direct);
  options.algorithms = "winograd";
  const auto winograd = make_executable(graph, options);
  EXPECT_NE(winograd->plan().hash(), direct->plan().hash());
  ASSERT_EQ(winograd->slices().size(), direct->slices().size());
  std::vector<float> here(direct->gradients().size()), there(winograd->gradients().size());
  for (std::size_t i = 0; i < direct->slices().size(); ++i) {
    const ParameterSlice& one = direct->slices()[i];
    const ParameterSlice& two = winograd->slices()[i];
    EXPECT_EQ(one.parameter, two.parameter);
    std::vector<float> values(static_cast<std::size_t>(graph.parameter(one.parameter).shape.elements()));
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k + 1);
    direct->from_plain(one.parameter, values, here);
    winograd->from_plain(two.parameter, values, there);
  }
  EXPECT_EQ(here, there);
}

TEST(ArenaOrder, is_refused_where_it_is_not_that_of_the_graph) {
  const graph::Graph graph = model("resnet18");
  const CompileOptions options{.threads = 1, .slots = 1};
  const std::vector<std::string> usual = order_of(*make_executable(graph, options));
  const auto refuse = [&](std::vector<std::string> order) {
    CompileOptions asked = options;
    asked.arena_order = std::move(order);
    EXPECT_THROW(static_cast<void>(make_executable(graph, asked)), ConfigError);
  };
  std::vector<std::string> order = usual;
  order.pop_back();
  refuse(order);
  order.push_back(usual.front());
  refuse(order);
  order.back() = "bn1.running_mean";
  refuse(order);
  order.back() = usual.back();
  order.push_back("another");
  refuse(order);
}

}  // namespace
}  // namespace roentgen::engine::cpu
