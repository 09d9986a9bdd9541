// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Sliding windows of convolution and pooling: output sizes, and checks of the attributes.
#pragma once

#include <string_view>

#include "core/error.h"
#include "core/shape.h"
#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// Sliding window of a pooling op over (H, W), in pixels.
struct Window {
  Extent kernel{1, 1};
  Extent stride{1, 1};
  Extent pad{0, 0};
  Extent dilation{1, 1};
  /// Rounds the output size up instead of down (torch's ceil_mode). The last window must start inside the padded input.
  bool is_ceil = false;
};

/// Throws ShapeError naming op, node and shape unless `shape` has `rank` axes.
void require_rank(std::string_view op, std::string_view node, const Shape& shape, int rank);
/// Output size (OH, OW) of a window over src (N, C, H, W). Throws ShapeError if the window does not fit.
[[nodiscard]] Extent window_output(std::string_view op, std::string_view node, const Shape& src, const Window& window);
/// Shape after pooling with a window. Throws ShapeError if the window does not fit, or if padding exceeds half of the
/// kernel.
[[nodiscard]] Inferred pool_output(std::string_view op, std::string_view node, const Shape& src, const Window& window);

}  // namespace roentgen::graph
