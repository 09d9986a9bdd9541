// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ReferenceRun: interprets a graph in double precision with naive loops, slow but obviously correct. Tests compare
// every engine with it. reference_test.cpp compares it with central differences.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/reference/array.h"
#include "engine/reference/ops.h"
#include "graph/graph.h"

namespace roentgen::engine::reference {

/// One forward and backward of a graph. Ignores flags that only affect how a result is computed (Concat::is_virtual).
/// Not thread-safe.
class ReferenceRun {
 public:
  /// Parameters and inputs start at zero. The graph must outlive the run.
  ReferenceRun(const graph::Graph& graph, Form form);

  /// Sets a graph input, a parameter or a running statistic by name; plain row-major. Throws ShapeError if the number
  /// of elements differs, ConfigError for an unknown name.
  void set(std::string_view name, std::span<const double> values);
  void set(std::string_view name, std::span<const float> values);  ///< overload for f32 values
  /// Sets which elements a dropout node keeps (1) and drops (0), in the shape of its output. Without a mask, the node
  /// keeps all elements.
  void set_mask(std::string_view node, std::vector<double> mask);

  /// Computes the value of every node. Running statistics change only in state(), so forward() may be repeated.
  void forward();
  /// Computes gradients of the first element of a named output with respect to all values and parameters. Requires
  /// Form::Training and a forward() before it.
  void backward(std::string_view output);

  /// Value of a node.
  [[nodiscard]] const Array& value(graph::NodeId id) const { return values_.at(static_cast<std::size_t>(id)); }
  /// Value of a named output. Throws ConfigError for an unknown name.
  [[nodiscard]] const Array& output(std::string_view name) const;
  /// Gradient with respect to the value of a node.
  [[nodiscard]] const Array& value_gradient(graph::NodeId id) const {
    return value_gradients_.at(static_cast<std::size_t>(id));
  }
  /// Value of a parameter, by index into Graph::parameters().
  [[nodiscard]] const Array& parameter(std::int32_t id) const { return parameters_.at(static_cast<std::size_t>(id)); }
  /// Gradient with respect to a parameter, by index into Graph::parameters().
  [[nodiscard]] const Array& parameter_gradient(std::int32_t id) const {
    return parameter_gradients_.at(static_cast<std::size_t>(id));
  }
  /// A running statistic after the step; for a trained parameter, its unchanged value.
  [[nodiscard]] const Array& state(std::int32_t id) const { return new_state_.at(static_cast<std::size_t>(id)); }
  /// Smallest distance in the forward from a point where a derivative jumps (ReLU at 0, two equal maxima). It is
  /// relative to the root mean square of the compared values. Gradients in float and double are comparable only if it
  /// is well above 2^-24.
  [[nodiscard]] double kink_margin() const { return kink_margin_; }

 private:
  [[nodiscard]] Scope scope_of(graph::NodeId id);

  const graph::Graph& graph_;
  Form form_;
  std::vector<Array> values_;
  std::vector<Array> value_gradients_;
  std::vector<Array> parameters_;
  std::vector<Array> parameter_gradients_;
  std::vector<Array> new_state_;
  std::vector<std::vector<Array>> kept_;
  std::vector<Array> masks_;
  double kink_margin_ = 0.0;
};

}  // namespace roentgen::engine::reference
