// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// 2-D convolution.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// Cross-correlation with zero padding, as torch.nn.Conv2d:
///   dst[n, oc, oh, ow] = bias[oc] + sum over ic, kh, kw of
///     src[n, ic, oh*SH - PH + kh*DH, ow*SW - PW + kw*DW] * weight[oc, ic, kh, kw], ic within oc's group.
/// src (N, IC, H, W), weight (OC, IC/groups, KH, KW), bias (OC), dst (N, OC, OH, OW).
///   OH = floor((H + 2 PH - DH (KH - 1) - 1) / SH) + 1
/// Gradients:
///   diff_src = transposed convolution of diff_dst with weight
///   diff_weight = correlation of src with diff_dst
///   diff_bias = sum of diff_dst over n, oh, ow
struct Conv2d {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "conv2d", .keeps = {.inputs = true}};
  std::int64_t out_channels = 0;               ///< OC
  Extent kernel{1, 1};                         ///< (KH, KW)
  Extent stride{1, 1};                         ///< (SH, SW)
  Extent pad{0, 0};                            ///< (PH, PW), on each side
  Extent dilation{1, 1};                       ///< (DH, DW)
  std::int64_t groups = 1;                     ///< number of groups; divides IC and OC
  bool bias = true;                            ///< whether there is a bias
  Init weight_init{Init::Kind::UniformFanIn};  ///< initial values of the weight
  Init bias_init{Init::Kind::UniformFanIn};    ///< initial values of the bias

  void visit(AttributeVisitor& visitor);  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const Conv2d&, const Conv2d&) = default;
};

}  // namespace roentgen::graph
