// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Folds a layer into the layer before it, for inference.
#include "graph/passes/pass_list.h"
#include "graph/passes/rewrite.h"

namespace roentgen::graph {
namespace {
// Copies the graph and sets `folded` in every node of type Folding that is the only reader of a node of the types
// Layers.
template <typename Folding, typename... Layers>
Graph fold_into(const Graph& graph) {
  const auto readers = graph.consumers();
  return rewrite(graph, [&](NodeId id) {
    Replacement same = keep(graph, id);
    auto* op = std::get_if<Folding>(&same.op);
    if (op == nullptr) return same;
    const NodeId layer = same.inputs[0];
    op->folded = (std::holds_alternative<Layers>(graph.node(layer).op) || ...) &&
                 readers[static_cast<std::size_t>(layer)].size() == 1 && !is_output(graph, layer);
    return same;
  });
}
}  // namespace

Graph fold_batch_norm(const Graph& graph) { return fold_into<BatchNorm, Conv2d>(graph); }
Graph fold_relu(const Graph& graph) { return fold_into<Relu, Conv2d, Linear>(graph); }

}  // namespace roentgen::graph
