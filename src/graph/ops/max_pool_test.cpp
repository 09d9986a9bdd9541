// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/max_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "graph/graph_testing.h"

namespace roentgen::graph {
namespace {
using testing::HasSubstr;

std::string refusal_of(const MaxPool& pool, const Shape& src) {
  return error_of<ShapeError>([&] { static_cast<void>(node_of(pool, {src})); });
}
}  // namespace

TEST(MaxPool, rounds_down) {
  EXPECT_EQ(node_of(MaxPool{.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}}, {{2, 5, 112, 111}}).shape,
            (Shape{2, 5, 56, 56}));
  EXPECT_EQ(node_of(MaxPool{}, {{2, 5, 7, 6}}).shape, (Shape{2, 5, 3, 3}));
}

TEST(MaxPool, rounds_up_with_ceil) {
  EXPECT_EQ(node_of(MaxPool{.is_ceil = true}, {{2, 5, 7, 6}}).shape, (Shape{2, 5, 4, 3}));
}

TEST(MaxPool, last_window_of_ceil_starts_inside_the_padded_input) {
  // Length 5, kernel 1, stride 4, pad 0: (5-1)/4 = 1 exactly. Length 3, kernel 2, stride 3, pad 1: rounding up gives 2
  // windows; the second starts inside the padded input, at 3 < 3 + 1. Length 2, kernel 2, stride 3, pad 1: a second
  // window would start outside, at 3 = 2 + 1.
  EXPECT_EQ(node_of(MaxPool{.kernel = {2, 2}, .stride = {3, 3}, .pad = {1, 1}, .is_ceil = true}, {{1, 1, 3, 2}}).shape,
            (Shape{1, 1, 2, 1}));
}

TEST(MaxPool, owns_nothing) { EXPECT_TRUE(node_of(MaxPool{}, {{1, 1, 2, 2}}).parameters.empty()); }

TEST(MaxPool, refuses_padding_over_half_the_kernel) {
  EXPECT_THAT(refusal_of({.kernel = {3, 3}, .pad = {2, 0}}, {1, 1, 8, 8}), HasSubstr("half the kernel, got 2x0"));
  EXPECT_THAT(refusal_of({.kernel = {3, 3}, .pad = {0, 2}}, {1, 1, 8, 8}), HasSubstr("half the kernel, got 0x2"));
}

TEST(MaxPool, refuses_a_window_that_does_not_fit) {
  EXPECT_THAT(refusal_of({.kernel = {9, 2}}, {1, 1, 8, 8}), HasSubstr("[graph.max_pool] node"));
}

TEST(MaxPool, refuses_what_is_no_image) { EXPECT_THAT(refusal_of({}, {8, 8}), HasSubstr("4 axes")); }

}  // namespace roentgen::graph
