// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/loss.h"

#include <string_view>
#include <utility>

#include "core/error.h"
#include "graph/builder.h"

namespace roentgen::graph {
namespace {
/// Sets the attribute "reduction" from its word, so that the words stay in one place: the ops.
class ReductionSetter final : public AttributeVisitor {
 public:
  explicit ReductionSetter(std::string_view word) : word_(word) {}

  void integer(std::string_view, std::int64_t&, std::int64_t) override {}
  void number(std::string_view, double&, double) override {}
  void flag(std::string_view, bool&, bool) override {}
  void extent(std::string_view, Extent&, Extent) override {}
  void init(std::string_view, Init&, const Init&) override {}
  void numbers(std::string_view, std::vector<double>&) override {}
  void word(std::string_view name, int& value, int, const std::vector<std::string_view>& words) override {
    if (name != "reduction") return;
    std::string known;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == word_) {
        value = static_cast<int>(i);
        return;
      }
      known += (i == 0 ? "" : ", ") + std::string(words[i]);
    }
    throw ConfigError(error_text("graph.loss", "reduction", "one of " + known, "'" + std::string(word_) + "'",
                                 "--set loss.reduction=mean_known"));
  }

 private:
  std::string_view word_;
};

Op make_loss(const LossConfig& config) {
  ReductionSetter reduction(config.reduction);
  if (config.kind == "sigmoid") {
    if (config.label_smoothing != 0.0) {
      throw ConfigError(error_text("graph.loss", "label_smoothing", "0 for the sigmoid loss",
                                   std::to_string(config.label_smoothing),
                                   "--set loss.label_smoothing=0, or loss.name=softmax"));
    }
    SigmoidCrossEntropy loss{.positive_weights = config.positive_weights};
    loss.visit(reduction);
    return loss;
  }
  if (config.kind == "softmax") {
    if (!config.positive_weights.empty()) {
      throw ConfigError(error_text("graph.loss", "positive_weights", "none for the softmax loss",
                                   std::to_string(config.positive_weights.size()),
                                   "--set loss.positive_weights=none, or loss.name=sigmoid"));
    }
    SoftmaxCrossEntropy loss{.label_smoothing = config.label_smoothing};
    loss.visit(reduction);
    return loss;
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
                                 "a line \"output logits = NAME\" in the graph text"));
  }
  Op loss = make_loss(config);
  const Shape logits_shape = graph.node(logits).shape;
  if (logits_shape.rank() != 2) {
    throw ShapeError(
        error_text("graph.loss", graph.name(), "logits (N, K)", logits_shape.text(), "flatten before the last linear"));
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
