// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Maximum over sliding windows.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// dst[n, c, oh, ow] = maximum of src over the window; padding counts as -infinity. (N, C, H, W) -> (N, C, OH, OW).
/// The gradient goes to the first maximum of each window, in row-major order (torch's choice).
struct MaxPool {
  static constexpr OpInfo kInfo{.name = "max_pool", .keeps = {.inputs = true, .output = true}};
  Extent kernel{2, 2};
  Extent stride{2, 2};
  Extent pad{0, 0};
  bool is_ceil = false;

  void visit(AttributeVisitor& visitor);
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const MaxPool&, const MaxPool&) = default;
};

}  // namespace roentgen::graph
