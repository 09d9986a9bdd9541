// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/losses.h"

#include "graph/ops/reduction_names.h"
#include "graph/ops/window.h"

namespace roentgen::graph {
namespace {
// Checks the inputs after the third, which are logits of auxiliary classifiers. Each of them needs one weight.
void require_auxiliary(std::string_view op, std::string_view node, std::span<const Shape> inputs,
                       std::span<const double> weights) {
  const std::string place = "graph." + std::string(op);
  const std::span<const Shape> heads = inputs.subspan(3);
  if (heads.size() != weights.size()) {
    throw ShapeError(error_text(place, node, std::to_string(heads.size()) + " auxiliary weights",
                                std::to_string(weights.size()), "one weight for each input after the third"));
  }
  for (const Shape& head : heads) {
    if (head != inputs[0]) {
      throw ShapeError(error_text(place, node, "auxiliary logits of shape " + inputs[0].text(), head.text()));
    }
  }
}
}  // namespace

const std::vector<std::string_view>& reduction_names() {
  static const std::vector<std::string_view> words{"mean_known", "mean_batch", "sum"};
  return words;
}

void SigmoidCrossEntropy::visit(AttributeVisitor& visitor) {
  visitor.word("reduction", reduction, 0, reduction_names());
  visitor.flag("partial", is_partial, false);
  visitor.numbers("positive_weights", positive_weights);
  visitor.numbers("auxiliary_weights", auxiliary_weights);
}

Inferred SigmoidCrossEntropy::infer(std::string_view node, std::span<const Shape> inputs) const {
  const Shape& logits = inputs[0];
  require_rank("sigmoid_cross_entropy", node, logits, 2);
  if (inputs[1] != logits || inputs[2] != logits) {
    throw ShapeError(error_text("graph.sigmoid_cross_entropy", node, "labels and mask of shape " + logits.text(),
                                inputs[1].text() + " and " + inputs[2].text()));
  }
  if (!positive_weights.empty() && static_cast<std::int64_t>(positive_weights.size()) != logits[1]) {
    throw ShapeError(error_text("graph.sigmoid_cross_entropy", node, std::to_string(logits[1]) + " positive weights",
                                std::to_string(positive_weights.size())));
  }
  require_auxiliary("sigmoid_cross_entropy", node, inputs, auxiliary_weights);
  return {.output = {1}, .parameters = {}, .multiply_adds = 0};
}

void SoftmaxCrossEntropy::visit(AttributeVisitor& visitor) {
  visitor.word("reduction", reduction, 0, reduction_names());
  visitor.flag("partial", is_partial, false);
  visitor.number("label_smoothing", label_smoothing, 0.0);
  visitor.numbers("auxiliary_weights", auxiliary_weights);
}

Inferred SoftmaxCrossEntropy::infer(std::string_view node, std::span<const Shape> inputs) const {
  const Shape& logits = inputs[0];
  require_rank("softmax_cross_entropy", node, logits, 2);
  const Shape column{logits[0], 1};
  if (inputs[1] != column || inputs[2] != column) {
    throw ShapeError(error_text("graph.softmax_cross_entropy", node, "labels and mask of shape " + column.text(),
                                inputs[1].text() + " and " + inputs[2].text()));
  }
  if (!(label_smoothing >= 0.0 && label_smoothing < 1.0)) {
    throw ShapeError(
        error_text("graph.softmax_cross_entropy", node, "label_smoothing in [0, 1)", std::to_string(label_smoothing)));
  }
  require_auxiliary("softmax_cross_entropy", node, inputs, auxiliary_weights);
  return {.output = {1}, .parameters = {}, .multiply_adds = 0};
}

}  // namespace roentgen::graph
