// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A second classifier, for training only.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// dst = src, logits (N, K) of an auxiliary classifier (Szegedy et al. 2014, arXiv 1409.4842, section 5). In training
/// the loss adds `weight` times the loss of these logits (graph/loss.h). Inference omits the auxiliary classifier
/// (graph/inference.h). The gradient passes unchanged.
struct Auxiliary {
  static constexpr OpInfo kInfo{.name = "auxiliary"};  ///< name and inputs
  double weight = 0.3;                                 ///< weight of its loss

  void visit(AttributeVisitor& visitor);                                                     ///< lists the attributes
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;  ///< shape rule; ShapeError
  friend bool operator==(const Auxiliary&, const Auxiliary&) = default;
};

}  // namespace roentgen::graph
