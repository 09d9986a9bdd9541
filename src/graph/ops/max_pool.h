// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Max pooling: maximum over sliding windows.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// Max pooling (N, C, H, W) -> (N, C, OH, OW): dst[n, c, oh, ow] = maximum of src over the window. Padding counts as
/// -infinity. The gradient goes to the first maximum of each window, in row-major order, as in torch.
struct MaxPool {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "max_pool", .keeps = {.inputs = true, .output = true}};
  Extent kernel{2, 2};   ///< size of the window
  Extent stride{2, 2};   ///< distance between windows
  Extent pad{0, 0};      ///< padding on each side
  bool is_ceil = false;  ///< whether the output size is rounded up

  void visit(AttributeVisitor& visitor);  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const MaxPool&, const MaxPool&) = default;
};

}  // namespace roentgen::graph
