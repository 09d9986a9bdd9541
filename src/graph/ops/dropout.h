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

/// Training: dst = src * keep / (1 - p), keep is 0 with probability p (Srivastava et al. 2014, scaled at training);
/// drawn from a stream keyed by (seed, step, node), so that a resumed run draws the same. Inference: dst = src.
struct Dropout {
  static constexpr OpInfo kInfo{.name = "dropout"};  ///< name and inputs
  double probability = 0.5;                          ///< p, probability of being dropped

  void visit(AttributeVisitor& visitor);                                                     ///< lists the attributes
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;  ///< shape rule; ShapeError
  friend bool operator==(const Dropout&, const Dropout&) = default;
};

}  // namespace roentgen::graph
