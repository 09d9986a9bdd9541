// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that every model survives conversion to text and back, and that every graph pass runs on it.
#include <gtest/gtest.h>

#include <variant>

#include "graph/passes/pass_list.h"
#include "graph/text.h"
#include "models/model.h"

namespace roentgen::models {
namespace {
using graph::Graph;

TEST(ModelText, parses_back_to_the_same_graph) {
  for (const std::string_view name : model_names()) {
    const bool has_stems = name.starts_with("resnet") || name.starts_with("densenet");
    for (const Stem stem : {Stem::ImageNet, Stem::Small}) {
      if (stem == Stem::Small && !has_stems) continue;
      const Graph graph = build_model({.name = std::string(name), .image_px = 320, .batch = 2, .stem = stem});
      const Result<Graph> back = graph::parse_graph(graph::print_graph(graph), name);
      ASSERT_TRUE(back.ok()) << back.error();
      EXPECT_EQ(back.value(), graph) << name;
    }
  }
}

TEST(ModelText, parses_back_after_the_passes) {
  for (const std::string_view name : model_names()) {
    const Graph graph = graph::run_passes(build_model({.name = std::string(name), .image_px = 320, .batch = 2}), "on",
                                          graph::Purpose::Inference);
    const Result<Graph> back = graph::parse_graph(graph::print_graph(graph), name);
    ASSERT_TRUE(back.ok()) << back.error();
    EXPECT_EQ(back.value(), graph) << name;
  }
}

template <typename Op>
std::int64_t count_ops(const Graph& graph) {
  std::int64_t count = 0;
  for (const graph::Node& node : graph.nodes()) count += std::holds_alternative<Op>(node.op) ? 1 : 0;
  return count;
}

TEST(ModelPasses, leave_no_relu_and_no_add_behind_batch_norms) {
  for (const std::string_view name : model_names()) {
    if (!name.starts_with("resnet") && !name.starts_with("densenet")) continue;  // only families with batch norms
    const Graph plain = build_model({.name = std::string(name)});
    const Graph fused = graph::run_passes(plain, "on", graph::Purpose::Training);
    EXPECT_GT(count_ops<graph::Relu>(plain), 0) << name;
    EXPECT_EQ(count_ops<graph::Relu>(fused), 0) << name;
    EXPECT_EQ(count_ops<graph::Add>(fused), 0) << name;
    EXPECT_EQ(fused.trained_elements(), plain.trained_elements()) << name;
  }
}

TEST(ModelPasses, store_no_concat_of_a_densenet) {
  for (const std::string_view name : {"densenet121", "densenet169", "densenet201"}) {
    const Graph fused = graph::run_passes(build_model({.name = std::string(name)}), "on", graph::Purpose::Training);
    EXPECT_GT(count_ops<graph::Concat>(fused), 0) << name;
    for (const graph::Node& node : fused.nodes()) {
      const auto* concat = std::get_if<graph::Concat>(&node.op);
      EXPECT_TRUE(concat == nullptr || concat->is_virtual) << node.name;
    }
  }
}

}  // namespace
}  // namespace roentgen::models
