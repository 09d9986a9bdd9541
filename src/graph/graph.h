// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Graph: a static network for one batch shape. Nodes are in topological order. Every node has one output, so the index
// of a node also identifies its output value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/shape.h"
#include "graph/op.h"
#include "graph/op_list.h"
#include "graph/parameter.h"

namespace roentgen::graph {

/// Index of a node, and of its output value.
using NodeId = std::int32_t;

/// Node of a graph: one application of an op.
struct Node {
  /// Unique name. Parameters are named "<node>.<parameter>", like those of torchvision's modules.
  std::string name;
  Op op;                       ///< op with its attributes
  std::vector<NodeId> inputs;  ///< input values, in order
  /// Shape of the output value.
  Shape shape;
  /// Indices into Graph::parameters().
  std::vector<std::int32_t> parameters;
  /// Multiply-adds of one forward pass over the whole batch.
  std::int64_t multiply_adds = 0;

  [[nodiscard]] bool is_input() const { return op.index() == 0; }  ///< true for an input of the graph
  friend bool operator==(const Node&, const Node&) = default;
};

/// Finished network. Immutable value; thread-safe to read. Builder (builder.h) and parse_graph() (text.h) make graphs.
class Graph {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }          ///< name of the graph
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }  ///< nodes in topological order
  /// Node with this id.
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_.at(static_cast<std::size_t>(id)); }
  /// Parameters and running statistics.
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  /// Parameter or running statistic with this index.
  [[nodiscard]] const Parameter& parameter(std::int32_t id) const {
    return parameters_.at(static_cast<std::size_t>(id));
  }
  /// Outputs by name, such as "logits" and "loss".
  [[nodiscard]] const std::vector<std::pair<std::string, NodeId>>& outputs() const { return outputs_; }
  /// Id of the output with this name, or -1.
  [[nodiscard]] NodeId output(std::string_view name) const;
  /// Id of the node with this name, or -1.
  [[nodiscard]] NodeId find(std::string_view name) const;
  /// For every node, the nodes that read its value, in order. A node that reads it twice is listed twice.
  [[nodiscard]] std::vector<std::vector<NodeId>> consumers() const;
  /// Total number of elements in trained parameters.
  [[nodiscard]] std::int64_t trained_elements() const;
  friend bool operator==(const Graph&, const Graph&) = default;

 private:
  friend class Builder;
  std::string name_;
  std::vector<Node> nodes_;
  std::vector<Parameter> parameters_;
  std::vector<std::pair<std::string, NodeId>> outputs_;
};

/// Name of the op in graph text, such as "conv2d"; "input" for Input.
[[nodiscard]] std::string_view op_name(const Op& op);

}  // namespace roentgen::graph
