// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reshapes each image to one row of values.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// Reshapes (N, C, H, W) to (N, C*H*W), row-major. The gradient is reshaped back.
struct Flatten {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "flatten"};

  void visit(AttributeVisitor&) {}  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const Flatten&, const Flatten&) = default;
};

}  // namespace roentgen::graph
