// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// 1x1 convolutions without a stride as products of f32 matrices, by AVX-512: as fast as oneDNN's forward and data
// gradient, faster weight gradients, and with the batch norms around them in them, as kernels of bf16 products have
// (split_conv.h, docs/adr/0011 to 0015): so that machines without tiles have that in f32, too.
#pragma once

#include <cstddef>
#include <memory>

#include "engine/cpu/conv/conv_tensors.h"
#include "engine/cpu/conv/products/split_conv.h"
#include "engine/cpu/plan/kernel.h"

namespace roentgen::engine::cpu {

/// Whether these kernels can compute it here: is_pointwise(), values in f32, AVX-512.
[[nodiscard]] bool has_pointwise(const SplitShape& shape);

/// Bytes of scratch the forward pass needs. `planes` and `unit` of a shape mean nothing here.
[[nodiscard]] ScratchBytes pointwise_forward_scratch(const SplitShape& shape, const NormalisedInput& input = {});
/// Likewise for the data gradient.
[[nodiscard]] ScratchBytes pointwise_backward_data_scratch(const SplitShape& shape);
/// Likewise for the weight gradient.
[[nodiscard]] ScratchBytes pointwise_backward_weights_scratch(const SplitShape& shape,
                                                              const NormalisedInput& input = {});

/// The passes. Results of the first two do not depend on the number of threads, but for moments and the sums of a batch
/// norm's gradient, one a thread; the weight gradient of a layer of few channels is summed in parts, so that every
/// thread has one.
[[nodiscard]] std::unique_ptr<Kernel> pointwise_forward(const SplitShape& shape, const ConvTensors& tensors);
[[nodiscard]] std::unique_ptr<Kernel> pointwise_backward_data(const SplitShape& shape, const ConvTensors& tensors);
[[nodiscard]] std::unique_ptr<Kernel> pointwise_backward_weights(const SplitShape& shape, const ConvTensors& tensors);

}  // namespace roentgen::engine::cpu
