// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Sliding windows of convolution and pooling, and the checks on them.
#pragma once

#include <string_view>

#include "core/error.h"
#include "core/shape.h"
#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// A sliding window over (H, W), in pixels.
struct Window {
  Extent kernel{1, 1};
  Extent stride{1, 1};
  Extent pad{0, 0};
  Extent dilation{1, 1};
  /// Round the output size up instead of down (torch's ceil_mode); the last window must start inside the padded input.
  bool is_ceil = false;
};

/// Throws ShapeError naming op, node and shape unless `shape` has `rank` axes.
void require_rank(std::string_view op, std::string_view node, const Shape& shape, int rank);
/// (OH, OW) of a window over src (N, C, H, W); throws ShapeError when the window does not fit.
[[nodiscard]] Extent window_output(std::string_view op, std::string_view node, const Shape& src, const Window& window);
/// Shape after pooling over such a window; ShapeError where it does not fit, or pads more than half the kernel.
[[nodiscard]] Inferred pool_output(std::string_view op, std::string_view node, const Shape& src, const Window& window);

}  // namespace roentgen::graph
