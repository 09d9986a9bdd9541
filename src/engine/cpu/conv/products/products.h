// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Convolutions as matrix products, fused with the batch norms around them (choice/norm_roles.h). One of these units
// multiplies:
// - Tiles (Intel AMX) compute any window and stride. F32 values are split into bf16 parts (simd/tiles.h): f32 accuracy,
//   or 16 bits in gradients. Bf16 values are multiplied as they are, also by AVX-512's bf16 instructions. A part of the
//   source that fits into the L2 cache is packed there and multiplied by all weights before the next one
//   (tile_convolution.cpp, tile_weights.cpp).
// - AVX-512 in f32 computes pointwise windows and reads values in place (row_convolution.cpp, row_weights.cpp).
#pragma once

#include <cstdint>
#include <memory>

#include "engine/cpu/conv/conv_algorithm.h"
#include "engine/cpu/conv/conv_tensors.h"
#include "engine/cpu/plan/kernel_scratch.h"
#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu {

/// Channels of a block.
constexpr std::int64_t kProductBlock = simd::kTileRows;

/// Values are nChw16c, weights f32 in OIhw16i16o: [out block][in block][tap][in][out].
struct ProductShape {
  std::int64_t images = 0;
  std::int64_t in_blocks = 0;
  std::int64_t out_blocks = 0;
  std::int64_t in_height = 0;
  std::int64_t in_width = 0;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
  std::int64_t kernel_height = 1;
  std::int64_t kernel_width = 1;
  std::int64_t stride_y = 1;
  std::int64_t stride_x = 1;
  std::int64_t dilation_y = 1;  ///< 1: neighbours
  std::int64_t dilation_x = 1;
  /// Zero rows above and columns left of the input; below and right follow from the sizes.
  std::int64_t pad_top = 0;
  std::int64_t pad_left = 0;
  /// Type of src and dst. Bf16: weights are rounded to it, products added up in f32.
  DType dtype = DType::F32;
  /// Bf16 numbers that one of f32 is split into: 3, as accurate as f32, or 2 (simd/tiles.h). Bf16 values: any.
  std::int64_t planes = 3;
  int threads = 1;
  simd::ProductUnit unit = simd::ProductUnit::Plain;
};

/// Planes of the matrices that are multiplied.
[[nodiscard]] inline std::int64_t planes_of(const ProductShape& shape) {
  return shape.dtype == DType::Bf16 ? 1 : shape.planes;
}

/// True for a 1x1 window that reads every pixel: the rows of both matrices are the pixels of the images.
[[nodiscard]] bool is_pointwise(const ProductShape& shape);
/// Whether the unit can compute it. Only Avx512F32 is limited, to pointwise products of f32 values.
[[nodiscard]] bool is_for_unit(const ProductShape& shape);

/// Kernel of one pass. The number of threads does not change the results of forward and data gradient. It may change
/// last bits of moments and of a batch norm's gradient sums, which have one slot per thread. The weight gradient of a
/// layer with few channels is summed in parts, so that every thread has work.
[[nodiscard]] std::unique_ptr<ConvKernel> product_kernel(const ProductShape& shape, ConvPass pass,
                                                         const ConvTensors& tensors);

}  // namespace roentgen::engine::cpu
