// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/conv/products/products.h"

#include "engine/cpu/conv/products/product_kernels.h"

namespace roentgen::engine::cpu {

bool is_pointwise(const ProductShape& s) {
  return s.kernel_height == 1 && s.kernel_width == 1 && s.stride_y == 1 && s.stride_x == 1 && s.pad_top == 0 &&
         s.pad_left == 0 && s.in_height == s.out_height && s.in_width == s.out_width;
}

bool is_for_unit(const ProductShape& shape) {
  return shape.unit != simd::ProductUnit::Avx512F32 || (shape.dtype == DType::F32 && is_pointwise(shape));
}

std::unique_ptr<ConvKernel> product_kernel(const ProductShape& shape, ConvPass pass, const ConvTensors& tensors) {
  const bool is_by_rows = shape.unit == simd::ProductUnit::Avx512F32;
  if (pass == ConvPass::BackwardWeights) return is_by_rows ? row_weights(shape, tensors) : tile_weights(shape, tensors);
  const bool is_turned = pass == ConvPass::BackwardData;
  return is_by_rows ? row_convolution(shape, tensors, is_turned) : tile_convolution(shape, tensors, is_turned);
}

}  // namespace roentgen::engine::cpu
