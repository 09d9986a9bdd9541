// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Convolutions by Winograd's method (Lavin & Gray, arXiv 1509.09308), four results at a time along each
// axis that has several taps: of 3x3 windows a quarter of the multiplications, of 5x5 a sixth, of a row or column of 7
// 36%, of 3 half. Less accurate by about one decimal digit, of 5x5 by one and a half. Three
// phases over a chunk of tiles that stays in cache: values into positions (36 of a 3x3 window), a matrix product of
// each, results back.
#pragma once

#include <cstdint>
#include <memory>

#include "core/shape.h"
#include "engine/cpu/conv/conv_algorithm.h"
#include "engine/cpu/conv/conv_tensors.h"
#include "engine/cpu/plan/kernel_scratch.h"
#include "engine/cpu/simd/winograd_window.h"

namespace roentgen::engine::cpu {

/// Values are nChw{block}c, weights f32 in OIhw{block}i{block}o: [out block][in block][down][across][in][out].
struct WinogradShape {
  simd::WinogradWindow window{};  ///< a known one
  std::int64_t images = 0;
  std::int64_t in_blocks = 0;
  std::int64_t out_blocks = 0;
  std::int64_t in_height = 0;
  std::int64_t in_width = 0;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
  /// Zero rows above and columns left of the input; below and right follow from the sizes.
  std::int64_t pad_top = 0;
  std::int64_t pad_left = 0;
  int block = 16;
  /// Of src and dst, and their gradients; computed in f32 either way.
  DType dtype = DType::F32;
  int threads = 1;
};

/// A pass. Its results do not depend on the number of threads.
[[nodiscard]] std::unique_ptr<ConvKernel> winograd_kernel(const WinogradShape& shape, ConvPass pass,
                                                          const ConvTensors& tensors);
/// The weight gradient of those, in winograd_weights.cpp.
[[nodiscard]] std::unique_ptr<ConvKernel> winograd_weights(const WinogradShape& shape, const ConvTensors& tensors);

}  // namespace roentgen::engine::cpu
