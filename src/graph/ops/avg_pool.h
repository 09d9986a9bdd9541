// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Average pooling: mean over sliding windows.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// Average pooling (N, C, H, W) -> (N, C, OH, OW): dst[n, c, oh, ow] = mean of src over the window. With `count_pad`,
/// the mean includes padding as zeros. diff_src = sum of diff_dst / count, over all windows that contain the pixel.
struct AvgPool {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "avg_pool"};
  Extent kernel{2, 2};    ///< size of the window
  Extent stride{2, 2};    ///< distance between windows
  Extent pad{0, 0};       ///< padding on each side
  bool count_pad = true;  ///< whether the mean includes padding as zeros

  void visit(AttributeVisitor& visitor);  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const AvgPool&, const AvgPool&) = default;
};

/// Global average pooling (N, C, H, W) -> (N, C, 1, 1): dst[n, c] = mean of src over (H, W).
struct GlobalAvgPool {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "global_avg_pool"};

  void visit(AttributeVisitor&) {}  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const GlobalAvgPool&, const GlobalAvgPool&) = default;
};

}  // namespace roentgen::graph
