// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/auxiliary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "graph/graph_testing.h"

namespace roentgen::graph {
namespace {
using testing::HasSubstr;

std::string refusal_of(const Auxiliary& op, const Shape& src) {
  return error_of<ShapeError>([&] { static_cast<void>(node_of(op, {src})); });
}
}  // namespace

TEST(Auxiliary, keeps_the_shape) { EXPECT_EQ(node_of(Auxiliary{}, {{4, 14}}).shape, (Shape{4, 14})); }

TEST(Auxiliary, refuses_a_negative_weight) {
  EXPECT_THAT(refusal_of({.weight = -0.5}, {4, 14}), HasSubstr("at least 0, got -0.5"));
}

TEST(Auxiliary, refuses_what_are_no_logits) { EXPECT_THAT(refusal_of({}, {1, 2, 3, 3}), HasSubstr("2 axes")); }

}  // namespace roentgen::graph
