// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/reference/reference_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/visit_op.h"

namespace roentgen::engine::reference {
namespace {
void fill(std::vector<Array>& arrays, double value) {
  for (Array& array : arrays) std::ranges::fill(array.data, value);
}
}  // namespace

void note_kink(Scope& scope, double distance, double rms) {
  if (distance != 0.0 && rms > 0.0) *scope.kink_margin = std::fmin(*scope.kink_margin, std::fabs(distance) / rms);
}

double root_mean_square(const Array& values) {
  double squares = 0.0;
  for (const double value : values.data) squares += value * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

ReferenceRun::ReferenceRun(const graph::Graph& graph, Form form) : graph_(graph), form_(form) {
  for (const graph::Node& node : graph.nodes()) {
    values_.emplace_back(node.shape);
    masks_.emplace_back(node.shape);
  }
  fill(masks_, 1.0);
  for (const graph::Parameter& parameter : graph.parameters()) parameters_.emplace_back(parameter.shape);
  value_gradients_ = values_;
  parameter_gradients_ = parameters_;
  new_state_ = parameters_;
  kept_.resize(values_.size());
}

void ReferenceRun::set(std::string_view name, std::span<const double> values) {
  Array* target = nullptr;
  const graph::NodeId node = graph_.find(name);
  if (node >= 0 && graph_.node(node).is_input()) target = &values_[static_cast<std::size_t>(node)];
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (graph_.parameters()[i].name == name) target = &parameters_[i];
  }
  if (target == nullptr) {
    throw ConfigError(
        error_text("engine.reference", name, "the name of an input or parameter", "neither", "a name of the graph"));
  }
  if (values.size() != target->data.size()) {
    throw ShapeError(error_text("engine.reference", name, std::to_string(target->size()) + " values",
                                std::to_string(values.size())));
  }
  target->data.assign(values.begin(), values.end());
}

void ReferenceRun::set(std::string_view name, std::span<const float> values) {
  const std::vector<double> exact(values.begin(), values.end());
  set(name, std::span<const double>(exact));
}

void ReferenceRun::set_mask(std::string_view node, std::vector<double> mask) {
  const graph::NodeId id = graph_.find(node);
  RG_ASSERT(id >= 0 && mask.size() == masks_[static_cast<std::size_t>(id)].data.size());
  masks_[static_cast<std::size_t>(id)].data = std::move(mask);
}

Scope ReferenceRun::scope_of(graph::NodeId id) {
  const auto index = static_cast<std::size_t>(id);
  const graph::Node& node = graph_.node(id);
  Scope scope{.node = &node,
              .form = form_,
              .dst = &values_[index],
              .kept = &kept_[index],
              .mask = &masks_[index],
              .kink_margin = &kink_margin_,
              .diff_dst = &value_gradients_[index]};
  for (const graph::NodeId input : node.inputs) {
    scope.src.push_back(&values_[static_cast<std::size_t>(input)]);
    scope.diff_src.push_back(&value_gradients_[static_cast<std::size_t>(input)]);
  }
  for (const std::int32_t parameter : node.parameters) {
    scope.parameters.push_back(&parameters_[static_cast<std::size_t>(parameter)]);
    scope.new_state.push_back(&new_state_[static_cast<std::size_t>(parameter)]);
    scope.diff_parameters.push_back(&parameter_gradients_[static_cast<std::size_t>(parameter)]);
  }
  return scope;
}

void ReferenceRun::forward() {
  new_state_ = parameters_;
  kink_margin_ = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const graph::Node& node = graph_.nodes()[i];
    if (node.is_input()) continue;
    Scope scope = scope_of(static_cast<graph::NodeId>(i));
    std::ranges::fill(values_[i].data, 0.0);
    graph::visit_op(node.op, [&](const auto& op) { reference::forward(op, scope); });
  }
}

void ReferenceRun::backward(std::string_view output) {
  RG_ASSERT(form_ == Form::Training);
  fill(value_gradients_, 0.0);
  fill(parameter_gradients_, 0.0);
  const graph::NodeId target = graph_.output(output);
  RG_ASSERT(target >= 0);
  value_gradients_[static_cast<std::size_t>(target)][0] = 1.0;
  for (std::size_t i = values_.size(); i-- > 0;) {
    const graph::Node& node = graph_.nodes()[i];
    if (node.is_input()) continue;
    Scope scope = scope_of(static_cast<graph::NodeId>(i));
    graph::visit_op(node.op, [&](const auto& op) { reference::backward(op, scope); });
  }
}

const Array& ReferenceRun::output(std::string_view name) const {
  const graph::NodeId id = graph_.output(name);
  RG_ASSERT(id >= 0);
  return value(id);
}

}  // namespace roentgen::engine::reference
