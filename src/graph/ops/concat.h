// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Concatenation along the channels.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// Concatenates the channels of all inputs: (N, C_i, H, W)... -> (N, sum C_i, H, W). The gradient is split in the same
/// way. `is_virtual` (set by the pass virtual_concat): the result is never stored; its readers read the inputs in
/// place.
struct Concat {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "concat", .inputs_max = 1024};
  bool is_virtual = false;  ///< true if the result is never stored

  void visit(AttributeVisitor& visitor);  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const Concat&, const Concat&) = default;
};

}  // namespace roentgen::graph
