// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Copies a graph node by node and drops or replaces nodes. Graph passes use it.
#pragma once

#include <functional>
#include <vector>

#include "graph/builder.h"

namespace roentgen::graph {

/// Decision of a rewrite about one node of the old graph.
struct Replacement {
  /// Old id of the node that readers use instead of this node. This node is then not copied. -1: this node is copied.
  NodeId forwarded_to = -1;
  /// True if the node is copied later, at the position of the node that it replaces (see `stands_for`).
  bool is_postponed = false;
  /// Old id of the node to copy at this position, with `op` and `inputs`; readers of this node read the copy. -1 to
  /// copy this node itself.
  NodeId stands_for = -1;
  /// Op of the copy; its inputs (old ids) follow.
  Op op;
  std::vector<NodeId> inputs;
};

/// Copies `graph`. Calls `decide` for every node except inputs. Each postponed node must be copied later in place of
/// another node.
[[nodiscard]] Graph rewrite(const Graph& graph, const std::function<Replacement(NodeId)>& decide);

/// Returns the decision to copy the node unchanged.
[[nodiscard]] Replacement keep(const Graph& graph, NodeId id);

/// True if the node is an output of the graph.
[[nodiscard]] bool is_output(const Graph& graph, NodeId id);

}  // namespace roentgen::graph
