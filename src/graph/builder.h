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

/// Adds nodes in topological order, inferring shapes as it goes. One thread.
class Builder {
 public:
  explicit Builder(std::string name);  ///< begins an empty graph of that name
  /// Starts from a finished graph, to append to it, for example a loss.
  explicit Builder(Graph graph);

  /// Adds an input, f32 unless the engine says otherwise.
  NodeId input(std::string name, const Shape& shape);
  /// Applies an op. Throws ShapeError naming op, node and shapes. Throws ConfigError for a name used twice or unusable:
  /// names hold letters, digits, '_' and '.', and start with neither digit nor '.'.
  NodeId add(std::string name, Op op, std::span<const NodeId> inputs);
  /// Applies an op to inputs written in place.
  NodeId add(std::string name, Op op, std::initializer_list<NodeId> inputs) {
    return add(std::move(name), std::move(op), std::span<const NodeId>(inputs.begin(), inputs.size()));
  }
  /// Names a result. ConfigError for a name used twice or unusable.
  void output(std::string name, NodeId id);
  [[nodiscard]] const Shape& shape(NodeId id) const { return graph_.node(id).shape; }  ///< shape of a value
  /// Returns the finished graph; the builder is empty afterwards.
  [[nodiscard]] Graph build() &&;

 private:
  Graph graph_;
  std::map<std::string, NodeId> names_;
};

}  // namespace roentgen::graph
