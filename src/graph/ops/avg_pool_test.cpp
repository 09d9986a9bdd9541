// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/avg_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "graph/graph_testing.h"

namespace roentgen::graph {
namespace {
using testing::HasSubstr;

std::string refusal_of(Op pool, const Shape& src) {
  return error_of<ShapeError>([&] { static_cast<void>(node_of(std::move(pool), {src})); });
}
}  // namespace

TEST(AvgPool, rounds_down) {
  EXPECT_EQ(node_of(AvgPool{}, {{2, 5, 7, 6}}).shape, (Shape{2, 5, 3, 3}));
  EXPECT_EQ(node_of(AvgPool{.kernel = {3, 2}, .stride = {1, 2}, .pad = {1, 0}}, {{2, 5, 7, 6}}).shape,
            (Shape{2, 5, 7, 3}));
}

TEST(AvgPool, refuses_padding_over_half_the_kernel) {
  EXPECT_THAT(refusal_of(AvgPool{.pad = {2, 0}}, {1, 1, 8, 8}), HasSubstr("half the kernel, got 2x0"));
}

TEST(AvgPool, refuses_a_window_that_does_not_fit) {
  EXPECT_THAT(refusal_of(AvgPool{.kernel = {9, 2}}, {1, 1, 8, 8}), HasSubstr("[graph.avg_pool] node"));
}

TEST(AvgPool, refuses_what_is_no_image) { EXPECT_THAT(refusal_of(AvgPool{}, {8, 8}), HasSubstr("4 axes")); }

TEST(GlobalAvgPool, leaves_one_pixel) {
  EXPECT_EQ(node_of(GlobalAvgPool{}, {{2, 5, 7, 6}}).shape, (Shape{2, 5, 1, 1}));
}

TEST(GlobalAvgPool, refuses_what_is_no_image) { EXPECT_THAT(refusal_of(GlobalAvgPool{}, {8}), HasSubstr("4 axes")); }

}  // namespace roentgen::graph
