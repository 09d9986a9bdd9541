// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Mean over sliding windows.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// dst[n, c, oh, ow] = mean of src over the window, zeros of the padding counted in unless `count_pad` is off.
/// (N, C, H, W) -> (N, C, OH, OW). diff_src = diff_dst / count, summed over the windows a pixel is in.
struct AvgPool {
  static constexpr OpInfo kInfo{.name = "avg_pool"};  ///< name and inputs
  Extent kernel{2, 2};                                ///< size of the window
  Extent stride{2, 2};                                ///< step from window to window
  Extent pad{0, 0};                                   ///< padding on each side
  bool count_pad = true;                              ///< whether padding counts as zeros

  void visit(AttributeVisitor& visitor);                                                     ///< lists the attributes
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;  ///< shape rule; ShapeError
  friend bool operator==(const AvgPool&, const AvgPool&) = default;
};

/// dst[n, c] = mean of src over (H, W). (N, C, H, W) -> (N, C, 1, 1).
struct GlobalAvgPool {
  static constexpr OpInfo kInfo{.name = "global_avg_pool"};  ///< name and inputs

  void visit(AttributeVisitor&) {}                                                           ///< lists the attributes
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;  ///< shape rule; ShapeError
  friend bool operator==(const GlobalAvgPool&, const GlobalAvgPool&) = default;
};

}  // namespace roentgen::graph
