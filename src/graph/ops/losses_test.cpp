// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "graph/graph_testing.h"

namespace roentgen::graph {
namespace {
using testing::AllOf;
using testing::HasSubstr;

std::string refusal_of(Op loss, const std::vector<Shape>& inputs) {
  return error_of<ShapeError>([&] { static_cast<void>(node_of(std::move(loss), inputs)); });
}
}  // namespace

TEST(SigmoidCrossEntropy, gives_one_number) {
  EXPECT_EQ(node_of(SigmoidCrossEntropy{}, {{4, 14}, {4, 14}, {4, 14}}).shape, (Shape{1}));
  EXPECT_EQ(node_of(SigmoidCrossEntropy{.positive_weights = {1.0, 2.0}}, {{4, 2}, {4, 2}, {4, 2}}).shape, (Shape{1}));
}

TEST(SigmoidCrossEntropy, refuses_labels_or_mask_of_another_shape) {
  EXPECT_THAT(refusal_of(SigmoidCrossEntropy{}, {{4, 14}, {4, 13}, {4, 14}}),
              AllOf(HasSubstr("(4, 14)"), HasSubstr("(4, 13)")));
  EXPECT_THAT(refusal_of(SigmoidCrossEntropy{}, {{4, 14}, {4, 14}, {4, 1}}), HasSubstr("(4, 1)"));
}

TEST(SigmoidCrossEntropy, refuses_another_number_of_positive_weights) {
  EXPECT_THAT(refusal_of(SigmoidCrossEntropy{.positive_weights = {1.0}}, {{4, 2}, {4, 2}, {4, 2}}),
              HasSubstr("2 positive weights, got 1"));
}

TEST(SigmoidCrossEntropy, refuses_a_missing_mask) {
  EXPECT_THAT(refusal_of(SigmoidCrossEntropy{}, {{4, 2}, {4, 2}}), HasSubstr("expected 3 to 11 inputs, got 2"));
}

TEST(SigmoidCrossEntropy, refuses_auxiliary_logits_without_a_weight_or_of_another_shape) {
  EXPECT_THAT(refusal_of(SigmoidCrossEntropy{}, {{4, 2}, {4, 2}, {4, 2}, {4, 2}}),
              HasSubstr("1 auxiliary weights, got 0"));
  EXPECT_THAT(refusal_of(SigmoidCrossEntropy{.auxiliary_weights = {0.3}}, {{4, 2}, {4, 2}, {4, 2}, {4, 3}}),
              HasSubstr("auxiliary logits of shape (4, 2), got (4, 3)"));
  EXPECT_THAT(refusal_of(SoftmaxCrossEntropy{.auxiliary_weights = {0.3}}, {{4, 2}, {4, 1}, {4, 1}}),
              HasSubstr("0 auxiliary weights, got 1"));
}

TEST(SigmoidCrossEntropy, refuses_logits_that_are_an_image) {
  EXPECT_THAT(refusal_of(SigmoidCrossEntropy{}, {{4, 2, 1, 1}, {4, 2}, {4, 2}}), HasSubstr("2 axes"));
}

TEST(SoftmaxCrossEntropy, gives_one_number) {
  EXPECT_EQ(node_of(SoftmaxCrossEntropy{.label_smoothing = 0.1}, {{4, 14}, {4, 1}, {4, 1}}).shape, (Shape{1}));
}

TEST(SoftmaxCrossEntropy, refuses_labels_or_mask_of_another_shape) {
  EXPECT_THAT(refusal_of(SoftmaxCrossEntropy{}, {{4, 14}, {4, 14}, {4, 1}}),
              AllOf(HasSubstr("(4, 1)"), HasSubstr("(4, 14)")));
  EXPECT_THAT(refusal_of(SoftmaxCrossEntropy{}, {{4, 14}, {4, 1}, {3, 1}}), HasSubstr("(3, 1)"));
}

TEST(SoftmaxCrossEntropy, refuses_smoothing_out_of_range) {
  const std::vector<Shape> inputs{{4, 3}, {4, 1}, {4, 1}};
  EXPECT_THAT(refusal_of(SoftmaxCrossEntropy{.label_smoothing = 1.0}, inputs), HasSubstr("label_smoothing in [0, 1)"));
  EXPECT_THAT(refusal_of(SoftmaxCrossEntropy{.label_smoothing = -0.1}, inputs), HasSubstr("label_smoothing in [0, 1)"));
}

TEST(SoftmaxCrossEntropy, refuses_logits_that_are_an_image) {
  EXPECT_THAT(refusal_of(SoftmaxCrossEntropy{}, {{4, 2, 1, 1}, {4, 1}, {4, 1}}), HasSubstr("2 axes"));
}

}  // namespace roentgen::graph
