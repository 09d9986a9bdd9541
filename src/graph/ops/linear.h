// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fully connected layer.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// Linear layer: dst = src * weight^T + bias. src (N, IC), weight (OC, IC), bias (OC), dst (N, OC). diff_src = diff_dst
/// * weight; diff_weight = diff_dst^T * src; diff_bias = sum of diff_dst over n.
struct Linear {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "linear", .keeps = {.inputs = true}};
  std::int64_t out_features = 0;               ///< OC
  bool bias = true;                            ///< whether there is a bias
  Init weight_init{Init::Kind::UniformFanIn};  ///< initial values of the weight
  Init bias_init{Init::Kind::UniformFanIn};    ///< initial values of the bias

  void visit(AttributeVisitor& visitor);  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const Linear&, const Linear&) = default;
};

}  // namespace roentgen::graph
