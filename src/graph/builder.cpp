// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/builder.h"

#include <type_traits>

#include "core/error.h"

namespace roentgen::graph {
namespace {
bool is_usable(std::string_view name) {
  if (name.empty() || name.front() == '.' || name.back() == '.') return false;
  if (name.front() >= '0' && name.front() <= '9') return false;
  for (const char c : name) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!is_letter && !(c >= '0' && c <= '9') && c != '_' && c != '.') return false;
  }
  return true;
}

Inferred infer(const Op& op, std::string_view node, std::span<const Shape> inputs) {
  return std::visit(
      [&](const auto& alternative) -> Inferred {
        using T = std::decay_t<decltype(alternative)>;
        if constexpr (std::is_same_v<T, Input>) {
          throw ConfigError(
              error_text("graph.builder", node, "an op such as relu", "an input", "adding it by Builder::input()"));
        } else {
          const auto count = static_cast<int>(inputs.size());
          if (count < T::kInfo.inputs_min || count > T::kInfo.inputs_max) {
            const std::string least = std::to_string(T::kInfo.inputs_min);
            const std::string most = std::to_string(T::kInfo.inputs_max);
            throw ShapeError(
                error_text("graph." + std::string(T::kInfo.name), node,
                           (least == most ? least : least + " to " + most) + (most == "1" ? " input" : " inputs"),
                           std::to_string(count)));
          }
          return alternative.infer(node, inputs);
        }
      },
      op);
}
}  // namespace

Builder::Builder(std::string name) { graph_.name_ = std::move(name); }

Builder::Builder(Graph graph) : graph_(std::move(graph)) {
  for (std::size_t i = 0; i < graph_.nodes_.size(); ++i) names_[graph_.nodes_[i].name] = static_cast<NodeId>(i);
}

NodeId Builder::input(std::string name, const Shape& shape) {
  if (!is_usable(name) || names_.contains(name)) {
    throw ConfigError(error_text("graph.builder", name, "an unused name of letters, digits, '_' and '.'", name));
  }
  if (shape.rank() < 1) throw ShapeError(error_text("graph.input", name, "at least one dimension", shape.text()));
  for (const std::int64_t dim : shape.dims()) {
    if (dim < 1) throw ShapeError(error_text("graph.input", name, "dimensions of at least 1", shape.text()));
  }
  const auto id = static_cast<NodeId>(graph_.nodes_.size());
  names_[name] = id;
  graph_.nodes_.push_back({.name = std::move(name), .op = Input{}, .inputs = {}, .shape = shape, .parameters = {}});
  return id;
}

NodeId Builder::add(std::string name, Op op, std::span<const NodeId> inputs) {
  if (!is_usable(name) || names_.contains(name)) {
    throw ConfigError(error_text("graph.builder", name, "an unused name of letters, digits, '_' and '.'", name));
  }
  std::vector<Shape> shapes;
  for (const NodeId input : inputs) shapes.push_back(graph_.node(input).shape);
  Inferred inferred = infer(op, name, shapes);
  Node node{.name = name,
            .op = std::move(op),
            .inputs = {inputs.begin(), inputs.end()},
            .shape = inferred.output,
            .parameters = {},
            .multiply_adds = inferred.multiply_adds};
  for (Parameter& parameter : inferred.parameters) {
    parameter.name = name + "." + parameter.name;
    node.parameters.push_back(static_cast<std::int32_t>(graph_.parameters_.size()));
    graph_.parameters_.push_back(std::move(parameter));
  }
  const auto id = static_cast<NodeId>(graph_.nodes_.size());
  names_[std::move(name)] = id;
  graph_.nodes_.push_back(std::move(node));
  return id;
}

void Builder::output(std::string name, NodeId id) {
  if (!is_usable(name) || graph_.output(name) >= 0) {
    throw ConfigError(
        error_text("graph.builder", name, "an unused output name of letters, digits, '_' and '.'", "'" + name + "'"));
  }
  static_cast<void>(graph_.node(id));
  graph_.outputs_.emplace_back(std::move(name), id);
}

Graph Builder::build() && { return std::move(graph_); }

}  // namespace roentgen::graph
