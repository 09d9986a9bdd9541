// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Mean over a grid of regions.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// [begin, end) of one axis of a region, in pixels.
struct Region {
  std::int64_t begin = 0;  ///< first pixel
  std::int64_t end = 0;    ///< one past the last pixel
};

/// Region `index` of `count` over an axis of `size` pixels, as torch cuts it: floor(index size / count) to
/// ceil((index + 1) size / count). Neighbours overlap where `count` does not divide `size`; none is empty.
[[nodiscard]] constexpr Region region(std::int64_t index, std::int64_t count, std::int64_t size) {
  return {index * size / count, ((index + 1) * size + count - 1) / count};
}

/// dst[n, c, oh, ow] = mean of src over region(oh, OH, H) x region(ow, OW, W), whatever H and W are.
/// (N, C, H, W) -> (N, C, OH, OW), as torch.nn.AdaptiveAvgPool2d. diff_src = diff_dst / pixels of the region, summed
/// over the regions a pixel is in.
struct AdaptiveAvgPool {
  static constexpr OpInfo kInfo{.name = "adaptive_avg_pool"};  ///< name and inputs
  /// (OH, OW).
  Extent out{1, 1};

  void visit(AttributeVisitor& visitor);                                                     ///< lists the attributes
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;  ///< shape rule; ShapeError
  friend bool operator==(const AdaptiveAvgPool&, const AdaptiveAvgPool&) = default;
};

}  // namespace roentgen::graph
