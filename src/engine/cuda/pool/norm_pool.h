// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Batch norm, ReLU and 3x3 max pooling (stride 2, padding 1) in one kernel, as in stems; channels last. The normalised
// image is never stored. Backward sums over the pooled image only: in each window, only the maximum has a gradient, and
// forward stores its input value.
#pragma once

#include <cstdint>

#include "core/shape.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Size of the image before pooling. After it: (height - 1) / 2 + 1 by (width - 1) / 2 + 1.
struct PoolShape {
  DType type = DType::Bf16;  ///< type of all values in memory: F32, Bf16 or F16
  std::int64_t images = 0;
  int height = 0;
  int width = 0;
  int channels = 0;  ///< number of channels, a multiple of 8

  [[nodiscard]] int out_height() const { return (height - 1) / 2 + 1; }
  [[nodiscard]] int out_width() const { return (width - 1) / 2 + 1; }
  /// Number of elements after pooling.
  [[nodiscard]] std::int64_t out_elements() const {
    return images * out_height() * out_width() * static_cast<std::int64_t>(channels);
  }
};

/// Operands of norm_pool(). Pointers are to device memory.
struct NormPool {
  const void* x = nullptr;         ///< (images, height, width, channels)
  const float* scale = nullptr;    ///< one value per channel, from norm_statistics()
  const float* shift = nullptr;    ///< one value per channel, from norm_statistics()
  void* y = nullptr;               ///< pooled image, in the type of x
  void* kept = nullptr;            ///< x at each maximum, in the shape of y; null: not stored
  std::uint8_t* winner = nullptr;  ///< receives 3 * row + column of each maximum in its window, shaped as y; or null
};
/// Computes y = max over the window of relu(scale * x + shift). Of equal values, the first wins. Reads x once from
/// memory, since overlapping windows share it in the caches. Writes y, kept and winner. Throws ConfigError naming the
/// field if the kernel does not support the shape. One thread per stream.
void norm_pool(runtime::Stream& stream, const PoolShape& shape, const NormPool& work);

/// Operands of norm_pool_gradient(). Pointers are to device memory.
struct NormPoolGradient {
  const void* x = nullptr;               ///< (images, height, width, channels)
  const void* g = nullptr;               ///< gradient of the pooled image, masked by the ReLU: NormSums::masked
  const std::uint8_t* winner = nullptr;  ///< from norm_pool()
  const float* scale = nullptr;          ///< scale to offset: one value per channel
  const float* slope = nullptr;          ///< output of norm_gradient_sums() over (kept, g)
  const float* offset = nullptr;         ///< output of norm_gradient_sums() over (kept, g)
  void* dx = nullptr;                    ///< gradient of x, in its shape; may equal x
};
/// Computes dx = scale * (sum of g over the windows in which the element is the maximum) - slope * x + offset. Reads x,
/// g and winner once, writes dx. Throws ConfigError as norm_pool() does. One thread per stream.
void norm_pool_gradient(runtime::Stream& stream, const PoolShape& shape, const NormPoolGradient& work);

}  // namespace roentgen::engine::cuda
