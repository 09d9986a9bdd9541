// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "core/error.h"
#include "graph/graph_testing.h"
#include "graph/inference.h"

namespace roentgen::graph {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

Graph classifier() {
  Builder builder("classifier");
  builder.output("logits", builder.add("fc", Linear{.out_features = 3}, {builder.input("image", {4, 8})}));
  return std::move(builder).build();
}

std::string refusal_of(const LossConfig& config) {
  return error_of<ConfigError>([&] { static_cast<void>(with_loss(classifier(), config)); });
}

// Graph of two linear layers that read the same input; one is an auxiliary classifier.
Graph two_classifiers() {
  Builder builder("two");
  const NodeId rows = builder.input("rows", {2, 3});
  const NodeId early = builder.add("early", Linear{.out_features = 5}, {rows});
  builder.add("aux", Auxiliary{.weight = 0.4}, {early});
  builder.output("logits", builder.add("fc", Linear{.out_features = 5}, {rows}));
  return std::move(builder).build();
}
}  // namespace

TEST(WithLoss, sigmoid_adds_labels_and_mask_of_the_logits_shape) {
  const Graph graph = with_loss(classifier(), {.reduction = "sum", .positive_weights = {1.0, 2.0, 3.0}});
  EXPECT_EQ(graph.node(graph.find("labels")).shape, (Shape{4, 3}));
  EXPECT_EQ(graph.node(graph.find("mask")).shape, (Shape{4, 3}));
  const Node& loss = graph.node(graph.output("loss"));
  EXPECT_EQ(std::get<SigmoidCrossEntropy>(loss.op),
            (SigmoidCrossEntropy{.reduction = static_cast<int>(Reduction::Sum), .positive_weights = {1.0, 2.0, 3.0}}));
  EXPECT_THAT(loss.inputs, ElementsAre(graph.output("logits"), graph.find("labels"), graph.find("mask")));
}

TEST(WithLoss, softmax_adds_a_class_index_per_image) {
  const Graph graph = with_loss(classifier(), {.kind = "softmax", .reduction = "mean_batch", .label_smoothing = 0.1});
  EXPECT_EQ(graph.node(graph.find("labels")).shape, (Shape{4, 1}));
  EXPECT_EQ(graph.node(graph.find("mask")).shape, (Shape{4, 1}));
  EXPECT_EQ(std::get<SoftmaxCrossEntropy>(graph.node(graph.output("loss")).op),
            (SoftmaxCrossEntropy{.reduction = static_cast<int>(Reduction::MeanBatch), .label_smoothing = 0.1}));
}

TEST(WithLoss, leaves_the_classifier_as_it_was) {
  const Graph before = classifier();
  const Graph after = with_loss(before, {});
  EXPECT_EQ(after.parameters(), before.parameters());
  for (std::size_t i = 0; i < before.nodes().size(); ++i) EXPECT_EQ(after.nodes()[i], before.nodes()[i]);
}

TEST(WithLoss, takes_auxiliary_classifiers_with_their_weights) {
  for (const char* kind : {"sigmoid", "softmax"}) {
    const Graph graph = with_loss(two_classifiers(), {.kind = kind});
    const Node& loss = graph.node(graph.output("loss"));
    ASSERT_EQ(loss.inputs.size(), 4U);
    EXPECT_EQ(loss.inputs[3], graph.find("aux"));
    std::vector<double> weights;
    if (const auto* sigmoid = std::get_if<SigmoidCrossEntropy>(&loss.op)) weights = sigmoid->auxiliary_weights;
    if (const auto* softmax = std::get_if<SoftmaxCrossEntropy>(&loss.op)) weights = softmax->auxiliary_weights;
    EXPECT_EQ(weights, (std::vector<double>{0.4})) << kind;
  }
}

TEST(NeededInInference, leaves_auxiliary_classifiers_out) {
  const Graph graph = with_loss(two_classifiers(), {});
  const std::vector<bool> is_needed = needed_in_inference(graph);
  for (std::size_t i = 0; i < is_needed.size(); ++i) {
    const std::string& name = graph.nodes()[i].name;
    EXPECT_EQ(is_needed[i], name != "aux" && name != "early") << name;
  }
}

TEST(WithLoss, refuses_unknown_words) {
  EXPECT_THAT(refusal_of({.kind = "hinge"}), HasSubstr("expected sigmoid or softmax, got 'hinge'"));
  EXPECT_THAT(refusal_of({.reduction = "mean"}), HasSubstr("one of mean_known, mean_batch, sum, got 'mean'"));
}

TEST(WithLoss, refuses_options_of_the_other_kind) {
  EXPECT_THAT(refusal_of({.label_smoothing = 0.1}), HasSubstr("label_smoothing"));
  EXPECT_THAT(refusal_of({.kind = "softmax", .positive_weights = {1.0}}), HasSubstr("positive_weights"));
}

TEST(WithLoss, refuses_a_wrong_number_of_positive_weights) {
  EXPECT_THROW(static_cast<void>(with_loss(classifier(), {.positive_weights = {1.0}})), ShapeError);
}

TEST(WithLoss, refuses_a_graph_without_logits) {
  EXPECT_THROW(static_cast<void>(with_loss(graph_of(Relu{}, {{1, 2}}), {})), ConfigError);
}

TEST(WithLoss, refuses_logits_that_are_an_image) {
  Builder builder("image");
  builder.output("logits", builder.input("image", {1, 2, 3, 4}));
  EXPECT_THROW(static_cast<void>(with_loss(std::move(builder).build(), {})), ShapeError);
}

TEST(WithLoss, refuses_a_second_loss) {
  EXPECT_THROW(static_cast<void>(with_loss(with_loss(classifier(), {}), {})), ConfigError);
}

}  // namespace roentgen::graph
