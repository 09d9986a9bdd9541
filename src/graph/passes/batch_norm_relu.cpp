// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include <algorithm>

#include "graph/passes/pass_list.h"
#include "graph/passes/rewrite.h"

namespace roentgen::graph {
namespace {
bool is_fusable(const Graph& graph, NodeId id, const std::vector<std::vector<NodeId>>& readers) {
  const auto* norm = std::get_if<BatchNorm>(&graph.node(id).op);
  return norm != nullptr && !norm->relu && graph.node(id).inputs.size() == 1 &&
         readers[static_cast<std::size_t>(id)].size() == 1 && !is_output(graph, id);
}
}  // namespace

Graph batch_norm_relu(const Graph& graph) {
  const auto readers = graph.consumers();
  // Removes each relu that follows a batch norm. The batch norm applies the ReLU itself and keeps its position in the
  // graph.
  return rewrite(graph, [&](NodeId id) {
    Replacement same = keep(graph, id);
    if (std::holds_alternative<Relu>(graph.node(id).op) && is_fusable(graph, graph.node(id).inputs[0], readers)) {
      same.forwarded_to = graph.node(id).inputs[0];
    } else if (is_fusable(graph, id, readers)) {
      const NodeId reader = readers[static_cast<std::size_t>(id)][0];
      std::get<BatchNorm>(same.op).relu = std::holds_alternative<Relu>(graph.node(reader).op);
    }
    return same;
  });
}

Graph batch_norm_add_relu(const Graph& graph) {
  const auto readers = graph.consumers();
  // Maps each relu r = relu(add(b, s)) to the batch norm b that can be fused with it. The fused node gets the position
  // of r, because s may be computed after b.
  std::vector<NodeId> norm_of_relu(graph.nodes().size(), -1);
  std::vector<bool> is_absorbed(graph.nodes().size(), false);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    if (!std::holds_alternative<Relu>(graph.node(id).op)) continue;
    const NodeId add = graph.node(id).inputs[0];
    if (!std::holds_alternative<Add>(graph.node(add).op) || readers[static_cast<std::size_t>(add)].size() != 1 ||
        is_output(graph, add) || graph.node(add).inputs[0] == graph.node(add).inputs[1]) {
      continue;
    }
    for (const NodeId norm : graph.node(add).inputs) {
      if (!is_fusable(graph, norm, readers)) continue;
      norm_of_relu[i] = norm;
      is_absorbed[static_cast<std::size_t>(norm)] = is_absorbed[static_cast<std::size_t>(add)] = true;
      break;
    }
  }
  return rewrite(graph, [&](NodeId id) {
    Replacement same = keep(graph, id);
    same.is_postponed = is_absorbed[static_cast<std::size_t>(id)];
    const NodeId norm = norm_of_relu[static_cast<std::size_t>(id)];
    if (norm >= 0) {
      const std::vector<NodeId>& terms = graph.node(graph.node(id).inputs[0]).inputs;
      BatchNorm fused = std::get<BatchNorm>(graph.node(norm).op);
      fused.relu = true;
      same.stands_for = norm;
      same.op = fused;
      same.inputs = {graph.node(norm).inputs[0], terms[0] == norm ? terms[1] : terms[0]};
    }
    return same;
  });
}

Graph virtual_concat(const Graph& graph) {
  const auto readers = graph.consumers();
  return rewrite(graph, [&](NodeId id) {
    Replacement same = keep(graph, id);
    auto* concat = std::get_if<Concat>(&same.op);
    if (concat != nullptr && !is_output(graph, id)) {
      const auto& who = readers[static_cast<std::size_t>(id)];
      concat->is_virtual = !who.empty() && std::ranges::all_of(who, [&](NodeId reader) {
        return std::holds_alternative<BatchNorm>(graph.node(reader).op) && graph.node(reader).inputs[0] == id &&
               graph.node(reader).inputs.size() == 1;
      });
    }
    return same;
  });
}

}  // namespace roentgen::graph
