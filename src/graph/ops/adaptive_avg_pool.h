// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adaptive average pooling: mean over each region of a grid.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// Range [begin, end) of pixels along one axis.
struct Region {
  std::int64_t begin = 0;  ///< first pixel
  std::int64_t end = 0;    ///< one past the last pixel
};

/// Region number `index` when an axis of `size` pixels is divided into `count` regions, as in torch: floor(index size /
/// count) to ceil((index + 1) size / count). Neighbouring regions overlap if `count` does not divide `size`; none is
/// empty.
[[nodiscard]] constexpr Region region(std::int64_t index, std::int64_t count, std::int64_t size) {
  return {index * size / count, ((index + 1) * size + count - 1) / count};
}

/// Adaptive average pooling, as torch.nn.AdaptiveAvgPool2d: (N, C, H, W) -> (N, C, OH, OW) for any H and W. dst[n, c,
/// oh, ow] = mean of src over region(oh, OH, H) x region(ow, OW, W). diff_src = sum of diff_dst / pixels of the region,
/// over all regions that contain the pixel.
struct AdaptiveAvgPool {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "adaptive_avg_pool"};
  /// Output size (OH, OW).
  Extent out{1, 1};

  void visit(AttributeVisitor& visitor);  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const AdaptiveAvgPool&, const AdaptiveAvgPool&) = default;
};

}  // namespace roentgen::graph
