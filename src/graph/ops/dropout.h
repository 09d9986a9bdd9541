// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dropout.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// Dropout (Srivastava et al. 2014), scaled in training: dst = src * keep / (1 - p), where keep is 0 with probability
/// p. The random numbers depend only on (seed, step, node), so a resumed run draws the same values. Inference: dst =
/// src.
struct Dropout {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "dropout"};
  double probability = 0.5;  ///< probability p that a value is set to 0

  void visit(AttributeVisitor& visitor);  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const Dropout&, const Dropout&) = default;
};

}  // namespace roentgen::graph
