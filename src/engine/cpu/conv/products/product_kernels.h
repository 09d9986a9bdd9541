// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The kernels behind product_kernel(). Internal to this folder.
#pragma once

#include <memory>

#include "engine/cpu/conv/products/products.h"

namespace roentgen::engine::cpu {

/// Kernels of the passes. `is_turned`: the data gradient, which is a forward from the gradient of dst with turned
/// weights. On tiles:
[[nodiscard]] std::unique_ptr<ConvKernel> tile_convolution(const ProductShape& shape, const ConvTensors& tensors,
                                                           bool is_turned);
[[nodiscard]] std::unique_ptr<ConvKernel> tile_weights(const ProductShape& shape, const ConvTensors& tensors);
/// Pointwise, in f32 by AVX-512:
[[nodiscard]] std::unique_ptr<ConvKernel> row_convolution(const ProductShape& shape, const ConvTensors& tensors,
                                                          bool is_turned);
[[nodiscard]] std::unique_ptr<ConvKernel> row_weights(const ProductShape& shape, const ConvTensors& tensors);

}  // namespace roentgen::engine::cpu
