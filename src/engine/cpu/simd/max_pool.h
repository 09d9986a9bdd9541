// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Loops of max pooling over one plane: the pixels of `block` channels that lie side by side, [H][W][block]. `block` is
// 4, 8 or 16. T: float or Bf16; compared as f32.
#pragma once

#include <cstdint>

#include "engine/cpu/plan/bf16.h"

namespace roentgen::engine::cpu::simd {

/// Extents in pixels. Windows that reach beyond the plane end there.
struct PoolExtent {
  std::int64_t in_height = 0;
  std::int64_t in_width = 0;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
  std::int64_t kernel_height = 0;
  std::int64_t kernel_width = 0;
  std::int64_t stride_y = 1;
  std::int64_t stride_x = 1;
  std::int64_t pad_top = 0;
  std::int64_t pad_left = 0;
  int block = 16;
};

/// Arguments of max_pool.
template <class T>
struct MaxPool {
  const T* src = nullptr;
  T* dst = nullptr;
  std::uint8_t* position = nullptr;  ///< as dst: which of its window's pixels it is, row by row; or null
  const float* scale = nullptr;      ///< `block` each: of src * scale + shift, or null: of src
  const float* shift = nullptr;
  bool relu = false;  ///< with a scale: max(., 0) of that first
};
/// Computes rows [begin, end) of dst: the first maximum of each window, row by row. A NaN is larger than any number,
/// and the last one is the largest. Every window has a pixel of the plane; with positions it has at most 256 pixels.
template <class T>
void max_pool(const PoolExtent& extent, const MaxPool<T>& work, std::int64_t begin, std::int64_t end);

/// Arguments of max_pool_gradient.
template <class T>
struct MaxPoolGradient {
  const T* diff_dst = nullptr;
  const std::uint8_t* position = nullptr;
  T* diff_src = nullptr;
};
/// Row `row` of the gradient of src: each pixel has the sum of the gradients of windows whose maximum it is, row by
/// row.
template <class T>
void max_pool_gradient(const PoolExtent& extent, const MaxPoolGradient<T>& work, std::int64_t row);

}  // namespace roentgen::engine::cpu::simd
