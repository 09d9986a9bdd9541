// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Sigmoid-weighted linear unit, a smooth activation.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// SiLU (Elfwing et al. 2017): dst = src * s with s = 1 / (1 + exp(-src)), any shape. diff_src = diff_dst * s * (1 +
/// src * (1 - s)).
struct Silu {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "silu", .keeps = {.inputs = true}};

  void visit(AttributeVisitor&) {}  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const Silu&, const Silu&) = default;
};

}  // namespace roentgen::graph
