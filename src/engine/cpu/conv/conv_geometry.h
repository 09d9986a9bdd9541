// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Shapes and window of one convolution.
#pragma once

#include "engine/cpu/plan/primitive_internal.h"
#include "graph/ops/conv2d.h"

namespace roentgen::engine::cpu {

/// Shapes and window of one convolution in oneDNN's form. Weights are (OC, IC/groups, KH, KW), with groups in front if
/// there are several. `bias` is empty without a bias, pads are per side, and `dilation` is the dilation minus 1.
struct ConvGeometry {
  Shape src;
  Shape dst;
  dnnl::memory::dims weights;
  dnnl::memory::dims bias;
  dnnl::memory::dims stride;
  dnnl::memory::dims dilation;
  dnnl::memory::dims pad_low;
  dnnl::memory::dims pad_high;
};
/// Returns the geometry of a node whose input has the shape `src`.
[[nodiscard]] ConvGeometry conv_geometry(const graph::Conv2d& op, const graph::Node& node, const Shape& src);

}  // namespace roentgen::engine::cpu
