// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Sum of two values of one shape.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// dst = src_0 + src_1, same shapes. Both gradients are diff_dst.
struct Add {
  static constexpr OpInfo kInfo{.name = "add", .inputs_min = 2, .inputs_max = 2};  ///< name and inputs

  void visit(AttributeVisitor&) {}                                                           ///< lists the attributes
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;  ///< shape rule; ShapeError
  friend bool operator==(const Add&, const Add&) = default;
};

}  // namespace roentgen::graph
