// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Shared by the passes: copy a graph node by node, dropping and replacing some.
#pragma once

#include <functional>
#include <vector>

#include "graph/builder.h"

namespace roentgen::graph {

/// Result of a rewrite for one node.
struct Replacement {
  /// Node (id of the old graph) that replaces this one for its readers; the node itself is not copied. -1: copied.
  NodeId forwarded_to = -1;
  /// True: the node is copied later, in place of the node that it replaces (see `stands_for`).
  bool is_postponed = false;
  /// Old node to copy here (with `op` and `inputs`); readers of this node will read the copy. -1: the node itself.
  NodeId stands_for = -1;
  /// The op and inputs (old ids) to use for the copy.
  Op op;
  std::vector<NodeId> inputs;
};

/// Copies `graph`, asking `decide` for every node that is no input. Another node must stand for every postponed one
/// later.
[[nodiscard]] Graph rewrite(const Graph& graph, const std::function<Replacement(NodeId)>& decide);

/// A Replacement that copies the node as it is.
[[nodiscard]] Replacement keep(const Graph& graph, NodeId id);

/// True for a node that is an output of the graph.
[[nodiscard]] bool is_output(const Graph& graph, NodeId id);

}  // namespace roentgen::graph
