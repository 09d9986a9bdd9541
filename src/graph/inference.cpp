// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/inference.h"

#include <span>

namespace roentgen::graph {
namespace {
constexpr std::size_t kInferredLossInputs = 3;

std::span<const NodeId> inferred_inputs(const Node& node) {
  const bool is_loss =
      std::holds_alternative<SigmoidCrossEntropy>(node.op) || std::holds_alternative<SoftmaxCrossEntropy>(node.op);
  return is_loss ? std::span(node.inputs).first(kInferredLossInputs) : std::span(node.inputs);
}
}  // namespace

std::vector<bool> needed_in_inference(const Graph& graph) {
  std::vector<bool> is_needed(graph.nodes().size(), false);
  for (const auto& [name, id] : graph.outputs()) is_needed[static_cast<std::size_t>(id)] = true;
  for (std::size_t i = graph.nodes().size(); i-- > 0;) {
    if (!is_needed[i]) continue;
    for (const NodeId input : inferred_inputs(graph.nodes()[i])) is_needed[static_cast<std::size_t>(input)] = true;
  }
  return is_needed;
}

}  // namespace roentgen::graph
