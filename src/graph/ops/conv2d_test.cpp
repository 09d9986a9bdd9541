// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/conv2d.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "graph/graph_testing.h"

namespace roentgen::graph {
namespace {
using testing::AllOf;
using testing::HasSubstr;

std::string refusal_of(const Conv2d& conv, const Shape& src) {
  return error_of<ShapeError>([&] { static_cast<void>(node_of(conv, {src})); });
}
}  // namespace

TEST(Conv2d, first_layer_of_resnet_halves_the_image) {
  const Node node =
      node_of(Conv2d{.out_channels = 64, .kernel = {7, 7}, .stride = {2, 2}, .pad = {3, 3}, .bias = false},
              {{16, 3, 224, 224}});
  EXPECT_EQ(node.shape, (Shape{16, 64, 112, 112}));
  EXPECT_EQ(node.multiply_adds, std::int64_t{16} * 64 * 112 * 112 * 3 * 7 * 7);
}

TEST(Conv2d, each_axis_has_its_own_window) {
  // floor((10 + 2*1 - 2*(3-1) - 1) / 2) + 1 = 4 and floor((11 + 2*0 - 1*(5-1) - 1) / 3) + 1 = 3.
  const Conv2d conv{.out_channels = 2, .kernel = {3, 5}, .stride = {2, 3}, .pad = {1, 0}, .dilation = {2, 1}};
  EXPECT_EQ(node_of(conv, {{1, 4, 10, 11}}).shape, (Shape{1, 2, 4, 3}));
}

TEST(Conv2d, window_may_cover_the_padded_input_exactly) {
  EXPECT_EQ(node_of(Conv2d{.out_channels = 1, .kernel = {5, 5}, .pad = {1, 1}}, {{1, 1, 3, 3}}).shape,
            (Shape{1, 1, 1, 1}));
}

TEST(Conv2d, parameters_have_torchs_shapes_and_names) {
  const Graph graph = graph_of(Conv2d{.out_channels = 24, .kernel = {3, 1}, .groups = 4}, {{2, 8, 9, 9}});
  ASSERT_EQ(graph.parameters().size(), 2U);
  EXPECT_EQ(graph.parameter(0).name, "node.weight");
  EXPECT_EQ(graph.parameter(0).shape, (Shape{24, 2, 3, 1}));
  EXPECT_EQ(graph.parameter(0).role, Role::Weight);
  EXPECT_EQ(graph.parameter(1).name, "node.bias");
  EXPECT_EQ(graph.parameter(1).shape, (Shape{24}));
  EXPECT_EQ(graph.parameter(1).role, Role::Bias);
}

TEST(Conv2d, bias_starts_by_the_fan_in_of_the_weight) {
  const Graph graph = graph_of(Conv2d{.out_channels = 24, .kernel = {3, 1}, .groups = 4}, {{2, 8, 9, 9}});
  EXPECT_EQ(graph.parameter(1).init.fan_in, 2 * 3 * 1);
}

TEST(Conv2d, without_bias_owns_the_weight_only) {
  EXPECT_EQ(node_of(Conv2d{.out_channels = 1, .bias = false}, {{1, 1, 1, 1}}).parameters.size(), 1U);
}

TEST(Conv2d, groups_divide_the_multiply_adds) {
  const Conv2d depthwise{.out_channels = 8, .kernel = {3, 3}, .pad = {1, 1}, .groups = 8};
  EXPECT_EQ(node_of(depthwise, {{1, 8, 5, 5}}).multiply_adds, 8 * 25 * 9);
}

TEST(Conv2d, refuses_groups_that_do_not_divide_the_channels) {
  EXPECT_THAT(refusal_of({.out_channels = 8, .groups = 4}, {1, 6, 5, 5}),
              AllOf(HasSubstr("[graph.conv2d] node"), HasSubstr("6 input channels, 8 output channels and 4 groups")));
  EXPECT_THAT(refusal_of({.out_channels = 6, .groups = 4}, {1, 8, 5, 5}),
              HasSubstr("8 input channels, 6 output channels and 4 groups"));
  EXPECT_THAT(refusal_of({.out_channels = 6, .groups = 0}, {1, 8, 5, 5}), HasSubstr("and 0 groups"));
}

TEST(Conv2d, refuses_no_output_channels) {
  EXPECT_THAT(refusal_of({}, {1, 8, 5, 5}), HasSubstr(" 0 output channels"));
  EXPECT_THAT(refusal_of({.out_channels = -4}, {1, 8, 5, 5}), HasSubstr("-4 output channels"));
}

TEST(Conv2d, refuses_a_window_that_does_not_fit) {
  EXPECT_THAT(refusal_of({.out_channels = 1, .kernel = {6, 5}}, {1, 8, 5, 5}),
              AllOf(HasSubstr("kernel 6x5"), HasSubstr("(1, 8, 5, 5)")));
  EXPECT_THAT(refusal_of({.out_channels = 1, .kernel = {3, 3}, .dilation = {1, 3}}, {1, 8, 5, 5}),
              HasSubstr("fits into the padded input"));
}

TEST(Conv2d, refuses_windows_without_meaning) {
  const std::string expected = "kernel, stride and dilation of at least 1 and pad of at least 0";
  EXPECT_THAT(refusal_of({.out_channels = 1, .kernel = {0, 1}}, {1, 8, 5, 5}), HasSubstr(expected));
  EXPECT_THAT(refusal_of({.out_channels = 1, .stride = {1, 0}}, {1, 8, 5, 5}), HasSubstr(expected));
  EXPECT_THAT(refusal_of({.out_channels = 1, .pad = {-1, 0}}, {1, 8, 5, 5}), HasSubstr(expected));
  EXPECT_THAT(refusal_of({.out_channels = 1, .dilation = {0, 1}}, {1, 8, 5, 5}), HasSubstr(expected));
}

TEST(Conv2d, refuses_what_is_no_image) {
  EXPECT_THAT(refusal_of({.out_channels = 1}, {1, 8}), AllOf(HasSubstr("4 axes"), HasSubstr("(1, 8)")));
}

TEST(Conv2d, refuses_two_inputs) {
  EXPECT_THAT(error_of<ShapeError>([] {
                static_cast<void>(node_of(Conv2d{.out_channels = 1}, {{1, 1, 2, 2}, {1, 1, 2, 2}}));
              }),
              HasSubstr("expected 1 input, got 2"));
}

}  // namespace roentgen::graph
