// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Flatten to one row per image.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// (N, C, H, W) -> (N, C*H*W), row-major. The gradient is reshaped back.
struct Flatten {
  static constexpr OpInfo kInfo{.name = "flatten"};  ///< name and inputs

  void visit(AttributeVisitor&) {}                                                           ///< lists the attributes
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;  ///< shape rule; ShapeError
  friend bool operator==(const Flatten&, const Flatten&) = default;
};

}  // namespace roentgen::graph
