// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Sum of two values of the same shape.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// Sum: dst = src_0 + src_1, both of the same shape. Both gradients equal diff_dst.
struct Add {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "add", .inputs_min = 2, .inputs_max = 2};

  void visit(AttributeVisitor&) {}  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const Add&, const Add&) = default;
};

}  // namespace roentgen::graph
