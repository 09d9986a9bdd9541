// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/batch_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "graph/graph_testing.h"

namespace roentgen::graph {
namespace {
using testing::AllOf;
using testing::HasSubstr;

std::string refusal_of(const BatchNorm& norm, const std::vector<Shape>& inputs) {
  return error_of<ShapeError>([&] { static_cast<void>(node_of(norm, inputs)); });
}
}  // namespace

TEST(BatchNorm, keeps_the_shape) {
  EXPECT_EQ(node_of(BatchNorm{}, {{2, 5, 7, 6}}).shape, (Shape{2, 5, 7, 6}));
  EXPECT_EQ(node_of(BatchNorm{.relu = true}, {{2, 5, 7, 6}, {2, 5, 7, 6}}).shape, (Shape{2, 5, 7, 6}));
}

TEST(BatchNorm, parameters_have_torchs_names_roles_and_start) {
  const Graph graph = graph_of(BatchNorm{}, {{2, 5, 7, 6}});
  const Shape channels{5};
  const std::vector<Parameter> expected{
      {"node.weight", channels, Role::NormScale, {Init::Kind::Constant, 1.0}},
      {"node.bias", channels, Role::NormShift, {Init::Kind::Constant, 0.0}},
      {"node.running_mean", channels, Role::RunningMean, {Init::Kind::Constant, 0.0}},
      {"node.running_var", channels, Role::RunningVariance, {Init::Kind::Constant, 1.0}}};
  EXPECT_EQ(graph.parameters(), expected);
}

TEST(BatchNorm, running_statistics_are_not_trained) {
  EXPECT_EQ(graph_of(BatchNorm{}, {{2, 5, 7, 6}}).trained_elements(), 10);
}

TEST(BatchNorm, refuses_a_residual_of_another_shape) {
  EXPECT_THAT(refusal_of({}, {{2, 5, 7, 6}, {2, 5, 6, 7}}),
              AllOf(HasSubstr("(2, 5, 7, 6)"), HasSubstr("(2, 5, 6, 7)")));
}

TEST(BatchNorm, refuses_three_inputs) {
  EXPECT_THAT(refusal_of({}, {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}}), HasSubstr("1 to 2 inputs, got 3"));
}

TEST(BatchNorm, refuses_epsilon_and_momentum_out_of_range) {
  EXPECT_THAT(refusal_of({.epsilon = 0.0}, {{2, 5, 7, 6}}), HasSubstr("epsilon > 0"));
  EXPECT_THAT(refusal_of({.momentum = -0.1}, {{2, 5, 7, 6}}), HasSubstr("momentum in [0, 1]"));
  EXPECT_THAT(refusal_of({.momentum = 1.1}, {{2, 5, 7, 6}}), HasSubstr("momentum in [0, 1]"));
}

TEST(BatchNorm, refuses_what_is_no_image) { EXPECT_THAT(refusal_of({}, {{8, 8}}), HasSubstr("4 axes")); }

}  // namespace roentgen::graph
