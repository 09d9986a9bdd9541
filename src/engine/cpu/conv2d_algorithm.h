// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Which oneDNN kernel a convolution uses: geometry, primitive descriptors, and the choice between direct and Winograd.
#pragma once

#include <string>

#include "engine/cpu/primitive_internal.h"
#include "graph/ops/conv2d.h"

namespace roentgen::engine::cpu {

/// Shapes and windows of one convolution as oneDNN wants them. Weights (OC, IC/groups, KH, KW), with groups in front
/// where there are any; `bias` empty without one; pads per side, dilation minus 1.
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
[[nodiscard]] ConvGeometry conv_geometry(const graph::Conv2d& op, const graph::Node& node, const Shape& src);

/// Direct, or Winograd's F(4x4, 3x3) (Lavin & Gray 2016): 4x fewer multiplications, about one digit less accurate.
enum class ConvAlgorithm { Direct, Winograd };
enum class ConvPass { Forward, BackwardData, BackwardWeights };

/// Descriptors of the three passes. Direct: the library's own choice of layouts, or plain ones where that is no layout
/// of ours or falls to the reference implementation. Winograd takes direct's layouts; dnnl::error where it cannot.
[[nodiscard]] dnnl::convolution_forward::primitive_desc conv_forward(const ConvGeometry& g, ConvAlgorithm algorithm,
                                                                     bool is_training);
[[nodiscard]] dnnl::convolution_backward_data::primitive_desc conv_backward_data(const ConvGeometry& g,
                                                                                 ConvAlgorithm algorithm);
[[nodiscard]] dnnl::convolution_backward_weights::primitive_desc conv_backward_weights(const ConvGeometry& g,
                                                                                       ConvAlgorithm algorithm);

/// The algorithm of one pass: the stored plan's; else direct, unless CompileOptions::algorithms is "auto" and Winograd
/// measures more than 5% faster within 64 MiB of scratch. Equal geometries are timed once a process, per thread count.
/// Recorded in the plan. ConfigError for a stored choice this machine cannot follow.
[[nodiscard]] ConvAlgorithm choose_algorithm(const ConvGeometry& g, ConvPass pass, const graph::Node& node,
                                             Lowering& lowering);

}  // namespace roentgen::engine::cpu
