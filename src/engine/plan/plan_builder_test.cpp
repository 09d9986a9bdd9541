// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/plan_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/plan/finish_plan.h"
#include "engine/plan/toy_builder_testing.h"

namespace roentgen::engine {
namespace {
constexpr Layout kRows{Order::ChannelsLast, 8, DType::Bf16};

std::vector<std::string> names_of(const Plan& plan, std::string_view part) {
  std::vector<std::string> names;
  for (const PlanEntry& entry : plan.entries) {
    if (entry.name.find(part) != std::string::npos) names.push_back(entry.name);
  }
  return names;
}

const PlanTensor& tensor_of(const Plan& plan, std::string_view name) {
  return *std::ranges::find(plan.tensors, name, &PlanTensor::name);
}

TEST(PlanBuilder, makes_a_copy_once_and_for_each_layout_through_f32) {
  const graph::Graph graph = toy_network();
  ToyBuilder builder(graph, {}, kRows);
  builder.build();
  // The input is reordered, then rounded to bf16. Both readers of the stem convolution use its result directly.
  EXPECT_THAT(names_of(builder.plan, "image/"), testing::ElementsAre("image/reorder", "image/convert"));
  EXPECT_THAT(names_of(builder.plan, "stem/"),
              testing::ElementsAre("stem/forward", "stem/gradient_sum", "stem/backward_weights"));
  // The result is converted from channels-last bf16 back to plain f32.
  EXPECT_THAT(names_of(builder.plan, "left/"),
              testing::ElementsAre("left/forward", "left/convert", "left/reorder", "left/reorder", "left/convert",
                                   "left/backward_data", "left/backward_weights"));
  EXPECT_EQ(tensor_of(builder.plan, "stem").layout, "nhwc8:bf16");
  EXPECT_EQ(tensor_of(builder.plan, "image/nhwc8").layout, "nhwc8");
}

TEST(PlanBuilder, sums_the_gradients_of_all_readers_and_gives_none_to_inputs) {
  const graph::Graph graph = toy_network();
  ToyBuilder builder(graph, {}, Layout{});
  builder.build();
  const auto sum = std::ranges::find(builder.plan.entries, "stem/gradient_sum", &PlanEntry::name);
  ASSERT_NE(sum, builder.plan.entries.end());
  EXPECT_EQ(sum->reads.size(), 2U);
  EXPECT_EQ(std::ranges::count(builder.plan.tensors, "d:image", &PlanTensor::name), 0);
  EXPECT_FALSE(builder.needs_gradient(graph.find("image")));
}

TEST(PlanBuilder, of_inference_has_no_backward) {
  const graph::Graph graph = toy_network();
  ToyBuilder builder(graph, {.form = Form::Inference}, kRows);
  builder.build();
  EXPECT_EQ(builder.plan.forward_end, std::ssize(builder.plan.entries));
  EXPECT_TRUE(names_of(builder.plan, "backward").empty());
  EXPECT_EQ(std::ranges::count(builder.plan.tensors, Storage::Gradient, &PlanTensor::storage), 0);
}

TEST(PlanBuilder, refuses_choices_that_it_does_not_make) {
  const graph::Graph graph = toy_network();
  const CompileOptions options{.choices = {{"stem/forward", "direct"}}};
  ToyBuilder builder(graph, options, kRows);
  EXPECT_THAT([&] { builder.build(); }, testing::ThrowsMessage<ConfigError>(testing::HasSubstr("stem/forward")));
}

TEST(FinishPlan, puts_all_replicas_of_the_workspace_behind_what_is_planned) {
  const graph::Graph graph = toy_network();
  ToyBuilder builder(graph, {}, kRows, 3);
  builder.build();
  static_cast<void>(finish_plan(builder));
  const Plan& plan = builder.plan;
  EXPECT_EQ(plan.replica_stride_bytes, 256U);
  EXPECT_GE(plan.memory.workspace, 3U * 256U);
  for (const PlanTensor& own : plan.tensors) {
    if (own.storage != Storage::Workspace) continue;
    EXPECT_EQ(own.offset % 256, 0U);
    EXPECT_EQ(own.offset + 3U * 256U, plan.memory.activations);
    for (const PlanTensor& other : plan.tensors) {
      EXPECT_TRUE(other.storage != Storage::Planned || other.offset + other.bytes <= own.offset) << other.name;
    }
  }
}

TEST(FinishPlan, lays_parameters_out_in_the_order_of_backward_and_closes_buckets_at_their_size) {
  const graph::Graph graph = toy_network();
  const CompileOptions options{.bucket_bytes = 1024};
  ToyBuilder builder(graph, options, kRows);
  builder.build();
  const Arenas arenas = finish_plan(builder);
  std::vector<std::pair<std::size_t, std::string>> places;
  for (const PlanTensor& tensor : builder.plan.tensors) {
    if (tensor.storage == Storage::Parameter) places.emplace_back(tensor.offset, tensor.name);
  }
  std::ranges::sort(places);
  std::vector<std::string> order;
  for (const auto& [offset, name] : places) order.push_back(name);
  EXPECT_THAT(order, testing::ElementsAre("fc.weight", "fc.bias", "right.weight", "left.weight", "stem.weight"));
  ASSERT_GT(arenas.buckets.size(), 1U);
  std::int64_t end = 0;
  for (const Bucket& bucket : arenas.buckets) {
    EXPECT_EQ(bucket.begin, end);
    end += bucket.count;
    EXPECT_TRUE(end == arenas.parameters || bucket.count * 4 >= 1024);
  }
  EXPECT_EQ(end, arenas.parameters);
  EXPECT_EQ(builder.plan.bucket_ready.back(), std::ssize(arenas.buckets));
}

}  // namespace
}  // namespace roentgen::engine
