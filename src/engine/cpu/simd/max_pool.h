// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Loops of max pooling over one plane [H][W][block], where `block` is 4, 8 or 16 adjacent channels. T is float or Bf16;
// values are compared as f32.
#pragma once

#include <cstdint>

#include "engine/cpu/plan/bf16.h"

namespace roentgen::engine::cpu::simd {

/// Sizes in pixels. Windows are clipped at the border of the plane.
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
  std::uint8_t* position = nullptr;  ///< receives the index of each maximum in its window, laid out as dst; or null
  const float* scale = nullptr;      ///< `block` floats; pools src * scale + shift; null: pools src
  const float* shift = nullptr;
  bool relu = false;  ///< applies max(., 0) after scale and shift
};
/// Computes rows [begin, end) of dst. Of equal values, the first in row-major order wins. NaN counts as larger than any
/// number; the last NaN wins. Every window contains a pixel of the plane. If positions are stored, a window has at most
/// 256 pixels.
template <class T>
void max_pool(const PoolExtent& extent, const MaxPool<T>& work, std::int64_t begin, std::int64_t end);

/// Arguments of max_pool_gradient.
template <class T>
struct MaxPoolGradient {
  const T* diff_dst = nullptr;
  const std::uint8_t* position = nullptr;
  T* diff_src = nullptr;
};
/// Computes row `row` of the gradient of src. Each pixel receives the sum of the gradients of the windows whose maximum
/// it is, in row-major order of windows.
template <class T>
void max_pool_gradient(const PoolExtent& extent, const MaxPoolGradient<T>& work, std::int64_t row);

}  // namespace roentgen::engine::cpu::simd
