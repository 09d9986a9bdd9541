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
  static constexpr OpInfo kInfo{.name = "max_pool", .keeps = {.inputs = true, .output = true}};  ///< name and inputs
  Extent kernel{2, 2};                                                                           ///< size of the window
  Extent stride{2, 2};   ///< step from window to window
  Extent pad{0, 0};      ///< padding on each side
  bool is_ceil = false;  ///< size of the output rounded up

  void visit(AttributeVisitor& visitor);                                                     ///< lists the attributes
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;  ///< shape rule; ShapeError
  friend bool operator==(const MaxPool&, const MaxPool&) = default;
};

}  // namespace roentgen::graph
