// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Convolutions of any window and stride as matrix products on the machine's bf16 tiles with f32's accuracy or, for
// gradients, 16 bits of it (simd/tiles.h says how): what makes training fast on machines with Intel AMX; or of bf16
// values as they are, there or on AVX-512 with its bf16 instructions. A part of the source that fits into the
// second-level cache is split there and multiplied by all weights before the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/cpu/conv/conv_tensors.h"
#include "engine/cpu/plan/kernel.h"
#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu {

/// Channels of a block.
constexpr std::int64_t kSplitBlock = simd::kTileRows;

/// Values are nChw16c, weights f32 in OIhw16i16o: [out block][in block][tap][in][out].
struct SplitShape {
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
  /// Of src and dst. Bf16: weights are rounded to it, products added up in f32.
  DType dtype = DType::F32;
  /// Bf16 numbers that one of f32 is split into: 3, as accurate as f32, or 2 (simd/tiles.h). Bf16 values: any.
  std::int64_t planes = 3;
  int threads = 1;
  simd::TileUnit unit = simd::TileUnit::Plain;
};

/// Planes of the matrices that are multiplied.
[[nodiscard]] inline std::int64_t planes_of(const SplitShape& shape) {
  return shape.dtype == DType::Bf16 ? 1 : shape.planes;
}

/// Every pixel is the first of a window.
[[nodiscard]] bool is_unstrided(const SplitShape& shape);
/// A window of one pixel that meets every pixel: rows of both matrices are those of the images.
[[nodiscard]] bool is_pointwise(const SplitShape& shape);

/// Bytes of scratch the forward pass needs, reading src or what stands in place of it.
[[nodiscard]] ScratchBytes split_forward_scratch(const SplitShape& shape, const NormalisedInput& input = {});
/// Likewise for the data gradient.
[[nodiscard]] ScratchBytes split_backward_data_scratch(const SplitShape& shape);
/// Likewise for the weight gradient.
[[nodiscard]] ScratchBytes split_backward_weights_scratch(const SplitShape& shape, const NormalisedInput& input = {});

/// The passes. Results of the first two do not depend on the number of threads, but for moments and the sums of a batch
/// norm's gradient, one a thread; the weight gradient of a layer of few channels is summed in parts, so that every
/// thread has one.
[[nodiscard]] std::unique_ptr<Kernel> split_forward(const SplitShape& shape, const ConvTensors& tensors);
[[nodiscard]] std::unique_ptr<Kernel> split_backward_data(const SplitShape& shape, const ConvTensors& tensors);
[[nodiscard]] std::unique_ptr<Kernel> split_backward_weights(const SplitShape& shape, const ConvTensors& tensors);

}  // namespace roentgen::engine::cpu
