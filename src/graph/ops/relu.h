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

/// dst = max(src, 0), any shape. diff_src = diff_dst where dst > 0, else 0.
struct Relu {
  static constexpr OpInfo kInfo{.name = "relu", .keeps = {.output = true}};  ///< name and inputs

  /// In inference: folded into the convolution or linear layer before it, whose only reader it is. Set by a pass
  /// (graph/passes); the computed values stay the same.
  bool folded = false;

  void visit(AttributeVisitor& visitor) { visitor.flag("folded", folded, false); }           ///< lists the attributes
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;  ///< shape rule; ShapeError
  friend bool operator==(const Relu&, const Relu&) = default;
};

}  // namespace roentgen::graph
