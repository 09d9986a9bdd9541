// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Convolution kernels from which product_kernel() selects. Internal to this folder.
#pragma once

#include <memory>

#include "engine/cpu/conv/products/products.h"

namespace roentgen::engine::cpu {

/// Kernels of the passes on tiles. `is_turned`: data gradient, computed as a forward from the gradient of dst with
/// transposed weights.
[[nodiscard]] std::unique_ptr<ConvKernel> tile_convolution(const ProductShape& shape, const ConvTensors& tensors,
                                                           bool is_turned);
[[nodiscard]] std::unique_ptr<ConvKernel> tile_weights(const ProductShape& shape, const ConvTensors& tensors);
/// Kernels for pointwise convolutions, in f32 by AVX-512.
[[nodiscard]] std::unique_ptr<ConvKernel> row_convolution(const ProductShape& shape, const ConvTensors& tensors,
                                                          bool is_turned);
[[nodiscard]] std::unique_ptr<ConvKernel> row_weights(const ProductShape& shape, const ConvTensors& tensors);

}  // namespace roentgen::engine::cpu
