// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Auxiliary classifier: a second classifier, for training only.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// Marks the logits (N, K) of an auxiliary classifier: dst = src (Szegedy et al. 2014, arXiv 1409.4842, section 5). In
/// training, `weight` times the loss of these logits is added to the loss (graph/loss.h). Inference omits the auxiliary
/// classifier (graph/inference.h). The gradient passes unchanged.
struct Auxiliary {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "auxiliary"};
  double weight = 0.3;  ///< weight of the classifier's loss

  void visit(AttributeVisitor& visitor);  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const Auxiliary&, const Auxiliary&) = default;
};

}  // namespace roentgen::graph
