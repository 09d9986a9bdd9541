// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Convolutions by Winograd's method (Lavin & Gray, arXiv 1509.09308): four results at a time along each axis with
// several taps. Compared with a direct sum, 3x3 windows need a quarter of the multiplications, and 5x5 windows a sixth.
// A single row or column of 7 taps needs 36%, and one of 3 taps half. Accuracy is about one decimal digit lower, for
// 5x5 one and a half. A chunk of tiles stays in cache through three phases. These transform values to positions (36 for
// a 3x3 window), multiply the matrices of each position, and transform results back.
#pragma once

#include <cstdint>
#include <memory>

#include "core/shape.h"
#include "engine/cpu/conv/conv_algorithm.h"
#include "engine/cpu/conv/conv_tensors.h"
#include "engine/cpu/plan/kernel_scratch.h"
#include "engine/cpu/simd/winograd_window.h"

namespace roentgen::engine::cpu {

/// Shape of a convolution. Values are nChw{block}c; weights are f32 in OIhw{block}i{block}o: [out block][in
/// block][down][across][in][out].
struct WinogradShape {
  simd::WinogradWindow window{};  ///< window of the convolution, which must have transforms: is_known()
  std::int64_t images = 0;
  std::int64_t in_blocks = 0;
  std::int64_t out_blocks = 0;
  std::int64_t in_height = 0;
  std::int64_t in_width = 0;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
  /// Zero rows above and zero columns left of the input. Those below and to the right follow from the sizes.
  std::int64_t pad_top = 0;
  std::int64_t pad_left = 0;
  int block = 16;
  /// Type of src, dst and their gradients. Kernels always compute in f32.
  DType dtype = DType::F32;
  int threads = 1;
};

/// Kernel of one pass. Its results do not depend on the number of threads.
[[nodiscard]] std::unique_ptr<ConvKernel> winograd_kernel(const WinogradShape& shape, ConvPass pass,
                                                          const ConvTensors& tensors);
/// Kernel of the weight gradient; defined in winograd_weights.cpp.
[[nodiscard]] std::unique_ptr<ConvKernel> winograd_weights(const WinogradShape& shape, const ConvTensors& tensors);

}  // namespace roentgen::engine::cpu
