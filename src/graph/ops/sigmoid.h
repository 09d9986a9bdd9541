// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Logistic sigmoid as an activation, a gate or an output; the sigmoid loss is in losses.h.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// Sigmoid: dst = 1 / (1 + exp(-src)), any shape. diff_src = diff_dst * dst * (1 - dst).
struct Sigmoid {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "sigmoid", .keeps = {.output = true}};

  void visit(AttributeVisitor&) {}  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const Sigmoid&, const Sigmoid&) = default;
};

}  // namespace roentgen::graph
