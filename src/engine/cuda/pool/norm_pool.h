// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Batch norm, ReLU and 3x3 max pooling with stride 2 and padding 1 as one kernel, as stems have them, channels last.
// The normalised image is never written. Backward takes the sums over the pooled image alone: only the winner of a
// window has a gradient, and its input value was kept.
#pragma once

#include <cstdint>

#include "core/shape.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Extent of the image before pooling. After it: (height - 1) / 2 + 1 by (width - 1) / 2 + 1.
struct PoolShape {
  DType type = DType::Bf16;  ///< type of all values in memory: F32, Bf16 or F16
  std::int64_t images = 0;
  int height = 0;
  int width = 0;
  int channels = 0;  ///< a multiple of 8

  [[nodiscard]] int out_height() const { return (height - 1) / 2 + 1; }
  [[nodiscard]] int out_width() const { return (width - 1) / 2 + 1; }
  /// Elements after pooling.
  [[nodiscard]] std::int64_t out_elements() const {
    return images * out_height() * out_width() * static_cast<std::int64_t>(channels);
  }
};

/// Operands of norm_pool(). Device memory.
struct NormPool {
  const void* x = nullptr;         ///< (images, height, width, channels)
  const float* scale = nullptr;    ///< channels, of norm_statistics()
  const float* shift = nullptr;    ///< channels, of norm_statistics()
  void* y = nullptr;               ///< pooled, of x's type
  void* kept = nullptr;            ///< x at each winner, as y; null: not kept
  std::uint8_t* winner = nullptr;  ///< 3 * row + column of the winner in its window, as y; null: not kept
};
/// y = max over the window of relu(scale * x + shift); the first of equal values wins. Reads x once (neighbouring
/// windows share what they read in the caches), writes y, kept and winner. ConfigError naming the field for an extent
/// that the kernel cannot do. One thread a stream.
void norm_pool(runtime::Stream& stream, const PoolShape& shape, const NormPool& work);

/// Operands of norm_pool_gradient(). Device memory.
struct NormPoolGradient {
  const void* x = nullptr;               ///< (images, height, width, channels)
  const void* g = nullptr;               ///< gradient of the winners, masked by the ReLU: norm_gradient_sums()'s masked
  const std::uint8_t* winner = nullptr;  ///< of norm_pool()
  const float* scale = nullptr;          ///< channels, as the two below
  const float* slope = nullptr;          ///< of norm_gradient_sums() over (kept, g)
  const float* offset = nullptr;         ///< of norm_gradient_sums() over (kept, g)
  void* dx = nullptr;                    ///< as x; may be x
};
/// dx = scale * (sum of g of the windows that the element won) - slope * x + offset. Reads x, g and winner once, writes
/// dx. ConfigError as norm_pool(). One thread a stream.
void norm_pool_gradient(runtime::Stream& stream, const PoolShape& shape, const NormPoolGradient& work);

}  // namespace roentgen::engine::cuda
