// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Convolutions as matrix products, with the batch norms around them in them (choice/norm_roles.h), by one of
// several units:
// - Tiles (Intel AMX) take any window and stride. F32 values are split into bf16 parts (simd/tiles.h), which keeps
// f32's
//   accuracy or, in gradients, 16 bits of it. Bf16 values are multiplied as they are, also by AVX-512's bf16
//   instructions. A part of the source that fits into the second-level cache is laid out there and multiplied by all
//   weights before the next one (tile_convolution.cpp, tile_weights.cpp).
// - AVX-512 in f32 takes pointwise windows and multiplies values where they lie (row_convolution.cpp, row_weights.cpp).
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

/// A window of one pixel that meets every pixel: rows of both matrices are those of the images.
[[nodiscard]] bool is_pointwise(const ProductShape& shape);
/// Whether the unit can compute it: Avx512F32 alone is particular, it takes pointwise products of f32 values.
[[nodiscard]] bool is_for_unit(const ProductShape& shape);

/// A pass. Results of forward and data gradient do not depend on the number of threads, but for moments and the sums of
/// a batch norm's gradient, one a thread; the weight gradient of a layer of few channels is summed in parts, so that
/// every thread has one.
[[nodiscard]] std::unique_ptr<ConvKernel> product_kernel(const ProductShape& shape, ConvPass pass,
                                                         const ConvTensors& tensors);

}  // namespace roentgen::engine::cpu
