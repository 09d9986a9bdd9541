// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Our own convolution kernels: the convolutions that they can compute, and their plan entries.
#pragma once

#include <memory>
#include <optional>

#include "engine/cpu/conv/conv_algorithm.h"
#include "engine/cpu/conv/conv_geometry.h"
#include "engine/cpu/conv/products/products.h"
#include "engine/cpu/conv/winograd/winograd.h"

namespace roentgen::engine::cpu {

/// Shape for our Winograd kernels, if they can compute the convolution in the layouts of direct's forward. Conditions:
/// a window of simd::WinogradWindow, no stride, pads smaller than the window, whole blocks of channels.
[[nodiscard]] std::optional<WinogradShape> winograd_shape(const ConvGeometry& g, int threads);
/// The convolution as our product kernels want it: any window, no groups, whole blocks of 16 channels.
[[nodiscard]] std::optional<ProductShape> product_shape(const ConvGeometry& g, int threads);

/// Whether our kernels of an algorithm can compute the pass of a geometry on this machine; always true for direct.
[[nodiscard]] bool can_compute(ConvAlgorithm algorithm, ConvPass pass, const ConvGeometry& g);

/// A kernel of ours for a pass; `algorithm` is not Direct, and can compute the geometry.
[[nodiscard]] std::unique_ptr<ConvKernel> own_kernel(ConvAlgorithm algorithm, ConvPass pass, const ConvGeometry& g,
                                                     int threads, const ConvTensors& tensors);

/// The kernel of an entry by one of our algorithms; adds implementation and scratch to the emission, which is otherwise
/// direct's.
[[nodiscard]] std::unique_ptr<Kernel> own_entry(Lowering& lowering, ConvAlgorithm algorithm, ConvPass pass,
                                                const ConvGeometry& g, Emission& emission, ConvTensors tensors);

}  // namespace roentgen::engine::cpu
