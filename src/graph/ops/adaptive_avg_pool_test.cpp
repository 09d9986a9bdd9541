// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/adaptive_avg_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "graph/graph_testing.h"

namespace roentgen::graph {
namespace {
using testing::HasSubstr;

std::string refusal_of(const AdaptiveAvgPool& pool, const Shape& src) {
  return error_of<ShapeError>([&] { static_cast<void>(node_of(pool, {src})); });
}
}  // namespace

TEST(AdaptiveAvgPool, gives_its_size_whatever_the_image) {
  const AdaptiveAvgPool pool{.out = {7, 5}};
  for (const std::int64_t size : {1, 4, 7, 16}) {
    EXPECT_EQ(node_of(pool, {{2, 5, size, size}}).shape, (Shape{2, 5, 7, 5})) << size;
  }
}

TEST(AdaptiveAvgPool, regions_are_torchs) {
  // 10 pixels in 4 regions: 0-3, 2-5, 5-8, 7-10. 2 pixels in 3 regions: 0-1, 0-2, 1-2.
  const auto is = [](Region r, std::int64_t begin, std::int64_t end) { return r.begin == begin && r.end == end; };
  EXPECT_TRUE(is(region(0, 4, 10), 0, 3));
  EXPECT_TRUE(is(region(1, 4, 10), 2, 5));
  EXPECT_TRUE(is(region(2, 4, 10), 5, 8));
  EXPECT_TRUE(is(region(3, 4, 10), 7, 10));
  EXPECT_TRUE(is(region(0, 3, 2), 0, 1));
  EXPECT_TRUE(is(region(1, 3, 2), 0, 2));
  EXPECT_TRUE(is(region(2, 3, 2), 1, 2));
}

TEST(AdaptiveAvgPool, refuses_no_output) {
  EXPECT_THAT(refusal_of({.out = {0, 7}}, {1, 1, 8, 8}), HasSubstr("at least 1x1, got 0x7"));
  EXPECT_THAT(refusal_of({.out = {7, -1}}, {1, 1, 8, 8}), HasSubstr("got 7x-1"));
}

TEST(AdaptiveAvgPool, refuses_what_is_no_image) { EXPECT_THAT(refusal_of({}, {8, 8}), HasSubstr("4 axes")); }

}  // namespace roentgen::graph
