// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Rectified linear unit.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// ReLU: dst = max(src, 0), any shape. diff_src = diff_dst where dst > 0, else 0.
struct Relu {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "relu", .keeps = {.output = true}};

  /// Inference only: true if the ReLU is folded into the convolution or linear layer before it, whose output nothing
  /// else reads. A pass sets it (graph/passes). The computed values stay the same.
  bool folded = false;

  void visit(AttributeVisitor& visitor) { visitor.flag("folded", folded, false); }  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const Relu&, const Relu&) = default;
};

}  // namespace roentgen::graph
