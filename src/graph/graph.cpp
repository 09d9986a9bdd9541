// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/graph.h"

#include <type_traits>

namespace roentgen::graph {

NodeId Graph::output(std::string_view name) const {
  for (const auto& [output_name, id] : outputs_) {
    if (output_name == name) return id;
  }
  return -1;
}

NodeId Graph::find(std::string_view name) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].name == name) return static_cast<NodeId>(i);
  }
  return -1;
}

std::vector<std::vector<NodeId>> Graph::consumers() const {
  std::vector<std::vector<NodeId>> readers(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const NodeId input : nodes_[i].inputs)
      readers[static_cast<std::size_t>(input)].push_back(static_cast<NodeId>(i));
  }
  return readers;
}

std::int64_t Graph::trained_elements() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters_) {
    if (is_trained(parameter.role)) count += parameter.shape.elements();
  }
  return count;
}

std::string_view op_name(const Op& op) {
  return std::visit(
      [](const auto& alternative) -> std::string_view {
        using T = std::decay_t<decltype(alternative)>;
        if constexpr (std::is_same_v<T, Input>) {
          return "input";
        } else {
          return T::kInfo.name;
        }
      },
      op);
}

}  // namespace roentgen::graph
