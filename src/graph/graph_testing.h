// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Test helpers for graph ops: apply one op to inputs of given shapes, and return the text of an expected error.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/builder.h"

namespace roentgen::graph {

/// Makes a graph with one input per shape ("x0", "x1", ...), the op as node "node", and the output "y".
inline Graph graph_of(Op op, const std::vector<Shape>& shapes) {
  Builder builder("test");
  std::vector<NodeId> inputs;
  for (const Shape& shape : shapes) inputs.push_back(builder.input("x" + std::to_string(inputs.size()), shape));
  builder.output("y", builder.add("node", std::move(op), inputs));
  return std::move(builder).build();
}

/// Returns the node "node" of graph_of().
inline Node node_of(Op op, const std::vector<Shape>& shapes) { return graph_of(std::move(op), shapes).nodes().back(); }

/// Returns the text of the exception E that `action` throws; "no error" if it throws none. Other exceptions pass
/// through.
template <typename E, typename Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace roentgen::graph
