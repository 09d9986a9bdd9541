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
/// p. Draws come from a stream keyed by (seed, step, node), so a resumed run draws the same values. Inference: dst =
/// src.
struct Dropout {
  static constexpr OpInfo kInfo{.name = "dropout"};  ///< name and inputs
  double probability = 0.5;                          ///< p, probability of being dropped

  void visit(AttributeVisitor& visitor);                                                     ///< lists the attributes
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;  ///< shape rule; ShapeError
  friend bool operator==(const Dropout&, const Dropout&) = default;
};

}  // namespace roentgen::graph
