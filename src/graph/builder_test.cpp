// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "graph/graph_testing.h"

namespace roentgen::graph {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string name_refusal(const std::string& name) {
  return error_of<ConfigError>([&] { static_cast<void>(Builder("test").input(name, {1, 1})); });
}
}  // namespace

TEST(Builder, accepts_the_names_torchvision_uses) {
  for (const char* name : {"conv1", "layer1.0.conv1", "features.denseblock1.denselayer1.norm_1", "_x", "A9"}) {
    EXPECT_EQ(name_refusal(name), "no error") << name;
  }
}

TEST(Builder, refuses_names_that_text_could_not_hold) {
  for (const char* name : {"", "1x", ".x", "x.", "a b", "a-b", "a,b", "a=b", "\xc3\xa4", "a\n"}) {
    EXPECT_THAT(name_refusal(name), HasSubstr("letters, digits")) << name;
  }
}

TEST(Builder, refuses_a_name_used_twice) {
  Builder builder("test");
  const NodeId x = builder.input("x", {1, 1});
  builder.add("y", Relu{}, {x});
  EXPECT_THROW(builder.input("y", {1, 1}), ConfigError);
  EXPECT_THROW(builder.add("x", Relu{}, {x}), ConfigError);
}

TEST(Builder, is_unchanged_by_a_refused_op) {
  Builder builder("test");
  const NodeId x = builder.input("x", {1, 1});
  EXPECT_THROW(builder.add("y", Linear{}, {x}), ShapeError);
  EXPECT_EQ(builder.add("y", Linear{.out_features = 2}, {x}), 1);
  EXPECT_EQ(std::move(builder).build().parameters().size(), 2U);
}

TEST(Builder, refuses_inputs_without_elements) {
  EXPECT_THROW(Builder("test").input("x", {1, 0}), ShapeError);
  EXPECT_THROW(Builder("test").input("x", {-1}), ShapeError);
  EXPECT_THROW(Builder("test").input("x", {}), ShapeError);
}

TEST(Builder, refuses_an_input_as_an_op) { EXPECT_THROW(Builder("test").add("x", Input{}, {}), ConfigError); }

TEST(Builder, refuses_an_output_named_twice_or_badly) {
  Builder builder("test");
  const NodeId x = builder.input("x", {1, 1});
  builder.output("logits", x);
  EXPECT_THROW(builder.output("logits", x), ConfigError);
  EXPECT_THROW(builder.output("my logits", x), ConfigError);
}

TEST(Builder, appends_to_a_finished_graph) {
  Builder builder(graph_of(Linear{.out_features = 3}, {{2, 4}}));
  EXPECT_THROW(builder.input("node", {1}), ConfigError);
  builder.add("head", Linear{.out_features = 5}, {1});
  const Graph graph = std::move(builder).build();
  EXPECT_EQ(graph.node(2).shape, (Shape{2, 5}));
  EXPECT_THAT(graph.node(2).parameters, ElementsAre(2, 3));
  EXPECT_EQ(graph.parameter(2).name, "head.weight");
}

TEST(Graph, lists_consumers_in_order_and_twice_when_read_twice) {
  Builder builder("test");
  const NodeId x = builder.input("x", {1, 2, 3, 3});
  const NodeId a = builder.add("a", Relu{}, {x});
  const NodeId b = builder.add("b", Add{}, {a, a});
  builder.add("c", Add{}, {b, a});
  const auto readers = std::move(builder).build().consumers();
  EXPECT_THAT(readers[0], ElementsAre(1));
  EXPECT_THAT(readers[1], ElementsAre(2, 2, 3));
  EXPECT_THAT(readers[2], ElementsAre(3));
  EXPECT_THAT(readers[3], IsEmpty());
}

TEST(Graph, finds_nodes_and_outputs_by_name) {
  const Graph graph = graph_of(Relu{}, {{1, 2}});
  EXPECT_EQ(graph.find("node"), 1);
  EXPECT_EQ(graph.find("y"), -1);
  EXPECT_EQ(graph.output("y"), 1);
  EXPECT_EQ(graph.output("node"), -1);
}

TEST(Graph, names_its_ops) {
  EXPECT_EQ(op_name(Conv2d{}), "conv2d");
  EXPECT_EQ(op_name(Input{}), "input");
}

}  // namespace roentgen::graph
