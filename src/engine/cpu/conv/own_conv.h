// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Our own convolution kernels: conditions under which they can compute a convolution, and their plan entries.
#pragma once

#include <memory>
#include <optional>

#include "engine/cpu/conv/conv_algorithm.h"
#include "engine/cpu/conv/conv_geometry.h"
#include "engine/cpu/conv/products/products.h"
#include "engine/cpu/conv/winograd/winograd.h"

namespace roentgen::engine::cpu {

/// Shape for our Winograd kernels, or nullopt if they cannot compute the convolution in the layouts of Direct's
/// forward. Conditions: a window known to simd::WinogradWindow, no stride, pads smaller than the window, whole blocks
/// of channels.
[[nodiscard]] std::optional<WinogradShape> winograd_shape(const ConvGeometry& g, int threads);
/// Shape for our matrix product kernels, or nullopt. Conditions: no groups, whole blocks of 16 channels. Any window is
/// possible.
[[nodiscard]] std::optional<ProductShape> product_shape(const ConvGeometry& g, int threads);

/// True if our kernels of an algorithm can compute the pass of this convolution on this machine. Always true for
/// Direct.
[[nodiscard]] bool can_compute(ConvAlgorithm algorithm, ConvPass pass, const ConvGeometry& g);

/// Returns our kernel for a pass. `algorithm` must not be Direct and must be able to compute the convolution.
[[nodiscard]] std::unique_ptr<ConvKernel> own_kernel(ConvAlgorithm algorithm, ConvPass pass, const ConvGeometry& g,
                                                     int threads, const ConvTensors& tensors);

/// Returns the kernel of a plan entry that uses one of our algorithms. Sets implementation and scratch
/// in `emission`; the caller has set all other fields as for Direct.
[[nodiscard]] std::unique_ptr<Kernel> own_entry(Lowering& lowering, ConvAlgorithm algorithm, ConvPass pass,
                                                const ConvGeometry& g, Emission& emission, ConvTensors tensors);

}  // namespace roentgen::engine::cpu
