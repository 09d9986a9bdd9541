// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/passes/rewrite.h"

#include <algorithm>

#include "core/error.h"

namespace roentgen::graph {

Replacement keep(const Graph& graph, NodeId id) {
  Replacement same;
  same.op = graph.node(id).op;
  same.inputs = graph.node(id).inputs;
  return same;
}

bool is_output(const Graph& graph, NodeId id) {
  return std::ranges::any_of(graph.outputs(), [id](const auto& output) { return output.second == id; });
}

Graph rewrite(const Graph& graph, const std::function<Replacement(NodeId)>& decide) {
  Builder builder(graph.name());
  std::vector<NodeId> moved(graph.nodes().size(), -1);
  const auto at = [&](NodeId old) -> NodeId& { return moved.at(static_cast<std::size_t>(old)); };
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    const Node& node = graph.node(id);
    if (node.is_input()) {
      at(id) = builder.input(node.name, node.shape);
      continue;
    }
    const Replacement replacement = decide(id);
    if (replacement.is_postponed) continue;
    if (replacement.forwarded_to >= 0) {
      at(id) = at(replacement.forwarded_to);
      RG_ASSERT(at(id) >= 0);
      continue;
    }
    std::vector<NodeId> inputs;
    for (const NodeId input : replacement.inputs) {
      inputs.push_back(at(input));
      RG_ASSERT(inputs.back() >= 0);
    }
    const NodeId source = replacement.stands_for >= 0 ? replacement.stands_for : id;
    at(id) = builder.add(graph.node(source).name, replacement.op, inputs);
  }
  for (const auto& [name, id] : graph.outputs()) builder.output(name, at(id));
  return std::move(builder).build();
}

}  // namespace roentgen::graph
