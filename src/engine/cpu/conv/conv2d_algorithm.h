// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels of convolutions: geometry, the library's primitive descriptors, and ours.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "engine/cpu/conv/conv_algorithm.h"
#include "engine/cpu/conv/products/split_conv.h"
#include "engine/cpu/conv/winograd/winograd.h"
#include "engine/cpu/plan/primitive_internal.h"
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
  /// What the forward does with its result: adds what lies in dst, then relu.
  bool adds = false;
  bool relu = false;
};
/// The geometry of a node whose input has the shape `src`.
[[nodiscard]] ConvGeometry conv_geometry(const graph::Conv2d& op, const graph::Node& node, const Shape& src);

/// The three computations of a convolution.
enum class ConvPass { Forward, BackwardData, BackwardWeights };
/// "forward", "backward_data", "backward_weights".
[[nodiscard]] std::string_view name_of(ConvPass pass);

/// Descriptors of the library's direct kernels: its own choice of layouts, or plain ones where that is no layout of
/// ours or falls to the reference implementation. Inference uses those of training as well: what the library prefers
/// there (channels last) is no faster, and a layer has one layout.
[[nodiscard]] dnnl::convolution_forward::primitive_desc conv_forward(const ConvGeometry& g);
[[nodiscard]] dnnl::convolution_backward_data::primitive_desc conv_backward_data(const ConvGeometry& g);
[[nodiscard]] dnnl::convolution_backward_weights::primitive_desc conv_backward_weights(const ConvGeometry& g);

/// The convolution as our Winograd kernels want it, where they can compute it in the layouts of direct's forward: a
/// window of simd::WinogradWindow, with its stride, pads less than the window, of a stride of 2 both even or both odd,
/// whole blocks of channels.
[[nodiscard]] std::optional<WinogradShape> winograd_shape(const ConvGeometry& g, int threads);
/// The same for our kernels of bf16 products: any window, no groups, whole blocks of 16 channels.
[[nodiscard]] std::optional<SplitShape> split_shape(const ConvGeometry& g, int threads);

/// Whether our kernels of that algorithm can compute the pass of that geometry here; always, for direct.
[[nodiscard]] bool can_compute(ConvAlgorithm algorithm, ConvPass pass, const ConvGeometry& g);

/// A kernel of ours for a pass, and the scratch it needs; `algorithm` is not Direct, and can compute the geometry.
[[nodiscard]] std::unique_ptr<Kernel> own_kernel(ConvAlgorithm algorithm, ConvPass pass, const ConvGeometry& g,
                                                 int threads, const ConvTensors& tensors);
[[nodiscard]] ScratchBytes own_scratch(ConvAlgorithm algorithm, ConvPass pass, const ConvGeometry& g, int threads,
                                       const NormalisedInput& input = {});

/// The kernel of an entry by one of our algorithms; adds implementation and scratch to the emission, which is otherwise
/// direct's.
[[nodiscard]] std::unique_ptr<Kernel> own_entry(Lowering& lowering, ConvAlgorithm algorithm, ConvPass pass,
                                                const ConvGeometry& g, Emission& emission, ConvTensors tensors);

}  // namespace roentgen::engine::cpu
