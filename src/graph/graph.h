// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Graph: a static network for one batch shape. Nodes in topological order; a node has one output, so a node's index is
// also its value's.
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

/// Index of a node, and of the value it gives.
using NodeId = std::int32_t;

/// One op application.
struct Node {
  /// Unique; parameters are named "<node>.<parameter>", as torchvision's modules are.
  std::string name;
  Op op;                       ///< attributes of one op
  std::vector<NodeId> inputs;  ///< values that it reads, in order
  /// Shape of the output.
  Shape shape;
  /// Indices into Graph::parameters().
  std::vector<std::int32_t> parameters;
  /// Multiply-adds of one forward over the batch.
  std::int64_t multiply_adds = 0;

  [[nodiscard]] bool is_input() const { return op.index() == 0; }  ///< whether it is an input
  friend bool operator==(const Node&, const Node&) = default;
};

/// A finished network. Immutable value; thread-safe to read. Made by Builder (builder.h) or parse_graph (text.h).
class Graph {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }          ///< name that Builder was given
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }  ///< in topological order
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_.at(static_cast<std::size_t>(id)); }  ///< by index
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }  ///< trained and state
  /// Parameter or state by index.
  [[nodiscard]] const Parameter& parameter(std::int32_t id) const {
    return parameters_.at(static_cast<std::size_t>(id));
  }
  /// Named results: "logits", "loss".
  [[nodiscard]] const std::vector<std::pair<std::string, NodeId>>& outputs() const { return outputs_; }
  /// The node behind a named output, or -1.
  [[nodiscard]] NodeId output(std::string_view name) const;
  /// The node of that name, or -1.
  [[nodiscard]] NodeId find(std::string_view name) const;
  /// Readers of every node, in order; a node that reads a value twice is listed twice.
  [[nodiscard]] std::vector<std::vector<NodeId>> consumers() const;
  /// Elements of all trained parameters.
  [[nodiscard]] std::int64_t trained_elements() const;
  friend bool operator==(const Graph&, const Graph&) = default;

 private:
  friend class Builder;
  std::string name_;
  std::vector<Node> nodes_;
  std::vector<Parameter> parameters_;
  std::vector<std::pair<std::string, NodeId>> outputs_;
};

/// The op's name in graph text ("conv2d"); "input" for Input.
[[nodiscard]] std::string_view op_name(const Op& op);

}  // namespace roentgen::graph
