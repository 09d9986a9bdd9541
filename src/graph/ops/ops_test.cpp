// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the shape inference of small ops: add, concat, dropout, flatten, linear, relu, silu, sigmoid. Larger ops have
// test files of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/error.h"
#include "graph/graph_testing.h"

namespace roentgen::graph {
namespace {
using testing::AllOf;
using testing::HasSubstr;

std::string refusal_of(Op op, const std::vector<Shape>& inputs) {
  return error_of<ShapeError>([&] { static_cast<void>(node_of(std::move(op), inputs)); });
}
}  // namespace

TEST(OpList, names_are_unique) {
  std::multiset<std::string_view> names{"input"};
#define RG_COLLECT_NAME(Kind) names.insert(Kind::kInfo.name);
  RG_OP_LIST(RG_COLLECT_NAME)
#undef RG_COLLECT_NAME
  for (const std::string_view name : names) EXPECT_EQ(names.count(name), 1U) << name;
}

TEST(Add, keeps_the_shape) {
  EXPECT_EQ(node_of(Add{}, {{2, 3, 4, 5}, {2, 3, 4, 5}}).shape, (Shape{2, 3, 4, 5}));
  EXPECT_EQ(node_of(Add{}, {{2, 3}, {2, 3}}).shape, (Shape{2, 3}));
}

TEST(Add, refuses_two_shapes) {
  EXPECT_THAT(refusal_of(Add{}, {{2, 3, 4, 5}, {2, 3, 4, 1}}),
              AllOf(HasSubstr("[graph.add] node"), HasSubstr("(2, 3, 4, 5) and (2, 3, 4, 1)")));
}

TEST(Add, refuses_one_input) { EXPECT_THAT(refusal_of(Add{}, {{2, 3}}), HasSubstr("expected 2 inputs, got 1")); }

TEST(Concat, sums_the_channels) {
  EXPECT_EQ(node_of(Concat{}, {{2, 3, 4, 5}, {2, 1, 4, 5}, {2, 30, 4, 5}}).shape, (Shape{2, 34, 4, 5}));
  EXPECT_EQ(node_of(Concat{}, {{2, 3, 4, 5}}).shape, (Shape{2, 3, 4, 5}));
}

TEST(Concat, refuses_inputs_that_differ_elsewhere) {
  EXPECT_THAT(refusal_of(Concat{}, {{2, 3, 4, 5}, {1, 3, 4, 5}}), HasSubstr("differ in channels only"));
  EXPECT_THAT(refusal_of(Concat{}, {{2, 3, 4, 5}, {2, 3, 3, 5}}), HasSubstr("(2, 3, 4, 5) and (2, 3, 3, 5)"));
  EXPECT_THAT(refusal_of(Concat{}, {{2, 3, 4, 5}, {2, 3, 4, 4}}), HasSubstr("differ in channels only"));
}

TEST(Concat, refuses_what_is_no_image) {
  EXPECT_THAT(refusal_of(Concat{}, {{2, 3}}), HasSubstr("4 axes"));
  EXPECT_THAT(refusal_of(Concat{}, {{2, 3, 4, 5}, {2, 3}}), HasSubstr("4 axes"));
}

TEST(Concat, refuses_no_input) { EXPECT_THAT(refusal_of(Concat{}, {}), HasSubstr("got 0")); }

TEST(Dropout, keeps_the_shape) { EXPECT_EQ(node_of(Dropout{}, {{2, 3}}).shape, (Shape{2, 3})); }

TEST(Dropout, refuses_a_probability_out_of_range) {
  for (const double probability : {-0.1, 1.0, std::nan("")}) {
    EXPECT_THAT(refusal_of(Dropout{.probability = probability}, {{2, 3}}), HasSubstr("p in [0, 1)")) << probability;
  }
}

TEST(Flatten, gives_a_row_per_image) {
  EXPECT_EQ(node_of(Flatten{}, {{2, 3, 4, 5}}).shape, (Shape{2, 60}));
  EXPECT_EQ(node_of(Flatten{}, {{2, 3}}).shape, (Shape{2, 3}));
}

TEST(Linear, maps_features) {
  const Graph graph = graph_of(Linear{.out_features = 14}, {{2, 1024}});
  EXPECT_EQ(graph.nodes().back().shape, (Shape{2, 14}));
  EXPECT_EQ(graph.nodes().back().multiply_adds, 2 * 1024 * 14);
  ASSERT_EQ(graph.parameters().size(), 2U);
  EXPECT_EQ(graph.parameter(0).shape, (Shape{14, 1024}));
  EXPECT_EQ(graph.parameter(1).shape, (Shape{14}));
  EXPECT_EQ(graph.parameter(1).init.fan_in, 1024);
}

TEST(Linear, without_bias_owns_the_weight_only) {
  EXPECT_EQ(node_of(Linear{.out_features = 14, .bias = false}, {{2, 1024}}).parameters.size(), 1U);
}

TEST(Linear, refuses_no_outputs) {
  EXPECT_THAT(refusal_of(Linear{}, {{2, 3}}),
              HasSubstr("[graph.linear] node: expected at least one output feature, got 0"));
}

TEST(Linear, refuses_an_image) {
  EXPECT_THAT(refusal_of(Linear{.out_features = 1}, {{2, 3, 4, 5}}), HasSubstr("2 axes"));
}

TEST(Relu, keeps_the_shape) { EXPECT_EQ(node_of(Relu{}, {{2, 3, 4, 5}}).shape, (Shape{2, 3, 4, 5})); }

TEST(Sigmoid, keeps_the_shape) { EXPECT_EQ(node_of(Sigmoid{}, {{2, 3}}).shape, (Shape{2, 3})); }

TEST(Silu, keeps_the_shape) { EXPECT_EQ(node_of(Silu{}, {{2, 3}}).shape, (Shape{2, 3})); }

}  // namespace roentgen::graph
