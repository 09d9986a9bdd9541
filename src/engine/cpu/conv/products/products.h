// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Convolutions as matrix products, fused with neighbouring batch norms (choice/norm_roles.h). One of these units
// multiplies:
// - Tiles (Intel AMX) compute any window and stride. F32 values are split into bf16 parts (simd/tiles.h), with f32
//   accuracy, or 16 bits in gradients. Bf16 values are multiplied unchanged, also by AVX-512's bf16 instructions. A
//   part of the source that fits into the L2 cache is packed and multiplied by all weights before the next part
//   (tile_convolution.cpp, tile_weights.cpp).
// - AVX-512 in f32 computes 1x1 windows and reads values in place (row_convolution.cpp, row_weights.cpp).
#pragma once

#include <cstdint>
#include <memory>

#include "engine/cpu/conv/conv_algorithm.h"
#include "engine/cpu/conv/conv_tensors.h"
#include "engine/cpu/plan/kernel_scratch.h"
#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu {

/// Number of channels in a block.
constexpr std::int64_t kProductBlock = simd::kTileRows;

/// Shape of a convolution. Values are nChw16c; weights are f32 in OIhw16i16o: [out block][in block][tap][in][out].
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
  std::int64_t dilation_y = 1;  ///< 1: taps read adjacent rows of the input
  std::int64_t dilation_x = 1;
  /// Zero rows above and zero columns left of the input. Those below and to the right follow from the sizes.
  std::int64_t pad_top = 0;
  std::int64_t pad_left = 0;
  /// Type of src and dst. For Bf16, weights are rounded to bf16 and products are summed in f32.
  DType dtype = DType::F32;
  /// Number of bf16 parts of an f32 number: 3, as accurate as f32, or 2 (simd/tiles.h). Ignored for bf16 values.
  std::int64_t planes = 3;
  int threads = 1;
  simd::ProductUnit unit = simd::ProductUnit::Plain;
};

/// Number of bf16 planes that the multiplied matrices have.
[[nodiscard]] inline std::int64_t planes_of(const ProductShape& shape) {
  return shape.dtype == DType::Bf16 ? 1 : shape.planes;
}

/// True for a 1x1 window that reads every pixel. The rows of both matrices are then the pixels of the images.
[[nodiscard]] bool is_pointwise(const ProductShape& shape);
/// True if the unit can compute the shape. Only Avx512F32 is limited: to pointwise products of f32 values.
[[nodiscard]] bool is_for_unit(const ProductShape& shape);

/// Kernel of one pass. Results of forward and data gradient do not depend on the number of threads. Moments and a batch
/// norm's gradient sums may differ in the last bits, because each thread has its own sums. If a layer has few channels,
/// its weight gradient is summed in parts, so that every thread has work.
[[nodiscard]] std::unique_ptr<ConvKernel> product_kernel(const ProductShape& shape, ConvPass pass,
                                                         const ConvTensors& tensors);

}  // namespace roentgen::engine::cpu
