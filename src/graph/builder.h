// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Builder: creates graphs, for models and passes.
#pragma once

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace roentgen::graph {

/// Builds a graph by adding nodes in topological order. Infers the shape of each node. Not thread-safe.
class Builder {
 public:
  explicit Builder(std::string name);  ///< begins an empty graph with this name
  /// Starts from a finished graph, for example to append a loss.
  explicit Builder(Graph graph);

  /// Adds an input of the graph. Its values are f32, unless the engine takes another type.
  NodeId input(std::string name, const Shape& shape);
  /// Adds a node that applies an op. Throws ShapeError naming op, node and shapes if they do not fit. Throws
  /// ConfigError if the name is used already or invalid. Names consist of letters, digits, '_' and '.', and start with
  /// a letter or '_'.
  NodeId add(std::string name, Op op, std::span<const NodeId> inputs);
  /// Adds a node whose inputs are given as a list.
  NodeId add(std::string name, Op op, std::initializer_list<NodeId> inputs) {
    return add(std::move(name), std::move(op), std::span<const NodeId>(inputs.begin(), inputs.size()));
  }
  /// Makes a value an output of the graph. Throws ConfigError if the name is used already or invalid.
  void output(std::string name, NodeId id);
  [[nodiscard]] const Shape& shape(NodeId id) const { return graph_.node(id).shape; }  ///< shape of a value
  /// Returns the finished graph and empties the builder.
  [[nodiscard]] Graph build() &&;

 private:
  Graph graph_;
  std::map<std::string, NodeId> names_;
};

}  // namespace roentgen::graph
