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

/// dst = src * s, s = 1 / (1 + exp(-src)) (Elfwing et al. 2017), any shape. diff_src = diff_dst * s * (1 + src * (1 -
/// s)).
struct Silu {
  static constexpr OpInfo kInfo{.name = "silu", .keeps = {.inputs = true}};  ///< name and inputs

  void visit(AttributeVisitor&) {}                                                           ///< lists the attributes
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;  ///< shape rule; ShapeError
  friend bool operator==(const Silu&, const Silu&) = default;
};

}  // namespace roentgen::graph
