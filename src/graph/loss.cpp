// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "graph/builder.h"
#include "graph/ops/reduction_names.h"

namespace roentgen::graph {
namespace {
/// Parses the name of a Reduction.
int reduction_named(std::string_view word) {
  const auto& names = reduction_names();
  const auto found = std::ranges::find(names, word);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  throw ConfigError(error_text("graph.loss", "reduction", fmt::format("one of {}", fmt::join(names, ", ")),
                               "'" + std::string(word) + "'", "--set loss.reduction=mean_known"));
}

Op make_loss(const LossConfig& config) {
  if (config.kind == "sigmoid") {
    if (config.label_smoothing != 0.0) {
      throw ConfigError(error_text("graph.loss", "label_smoothing", "0 for the sigmoid loss",
                                   std::to_string(config.label_smoothing),
                                   "--set loss.label_smoothing=0, or loss.name=softmax"));
    }
    return SigmoidCrossEntropy{.reduction = reduction_named(config.reduction),
                               .is_partial = config.is_partial,
                               .positive_weights = config.positive_weights};
  }
  if (config.kind == "softmax") {
    if (!config.positive_weights.empty()) {
      throw ConfigError(error_text("graph.loss", "positive_weights", "none for the softmax loss",
                                   std::to_string(config.positive_weights.size()) + " weights",
                                   "--set loss.positive_weights=none, or loss.name=sigmoid"));
    }
    return SoftmaxCrossEntropy{.reduction = reduction_named(config.reduction),
                               .is_partial = config.is_partial,
                               .label_smoothing = config.label_smoothing};
  }
  throw ConfigError(
      error_text("graph.loss", "kind", "sigmoid or softmax", "'" + config.kind + "'", "--set loss.name=sigmoid"));
}

void set_auxiliary_weights(Op& loss, const std::vector<double>& weights) {
  if (auto* sigmoid = std::get_if<SigmoidCrossEntropy>(&loss)) sigmoid->auxiliary_weights = weights;
  if (auto* softmax = std::get_if<SoftmaxCrossEntropy>(&loss)) softmax->auxiliary_weights = weights;
}
}  // namespace

Graph with_loss(Graph graph, const LossConfig& config) {
  const NodeId logits = graph.output("logits");
  if (logits < 0) {
    throw ConfigError(error_text("graph.loss", graph.name(), "an output named logits", "none",
                                 "adding the line \"output logits = NAME\" to the graph text"));
  }
  Op loss = make_loss(config);
  const Shape logits_shape = graph.node(logits).shape;
  if (logits_shape.rank() != 2) {
    throw ShapeError(error_text("graph.loss", graph.name(), "logits of shape (N, K)", logits_shape.text(),
                                "a flatten before the last linear layer"));
  }
  const Shape labels_shape = config.kind == "sigmoid" ? logits_shape : Shape{logits_shape[0], 1};
  std::vector<NodeId> heads;
  std::vector<double> weights;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const auto* auxiliary = std::get_if<Auxiliary>(&graph.nodes()[i].op);
    if (auxiliary == nullptr) continue;
    heads.push_back(static_cast<NodeId>(i));
    weights.push_back(auxiliary->weight);
  }
  set_auxiliary_weights(loss, weights);
  Builder builder(std::move(graph));
  const NodeId labels = builder.input("labels", labels_shape);
  const NodeId mask = builder.input("mask", labels_shape);
  heads.insert(heads.begin(), {logits, labels, mask});
  builder.output("loss", builder.add("loss", std::move(loss), heads));
  return std::move(builder).build();
}

}  // namespace roentgen::graph
