// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels of pooling over windows or regions of images, channels last.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/shape.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Kind of pooling: mean or maximum over each window, or mean over each region of a grid.
enum class PoolOp : std::uint8_t {
  Max,                ///< maximum of the pixels inside the image; of equal values, the first
  AverageWithPad,     ///< sum of the pixels inside the image / number of pixels of the window
  AverageWithoutPad,  ///< mean of the pixels inside the image
  Region,             ///< mean over graph::region(); kernel, stride and pad are ignored
};

/// Sizes of a pooling along one axis.
struct PoolAxis {
  int size = 1;    ///< pixels of the image
  int out = 1;     ///< pixels of the result
  int kernel = 1;  ///< pixels of a window
  int stride = 1;  ///< distance of neighbouring windows, in pixels
  int pad = 0;     ///< padding on each side of the image
};

/// Pooling of an image (images, height, width, channels).
struct Pooling {
  PoolOp op = PoolOp::Max;
  DType type = DType::F32;  ///< type of all values: F32, Bf16 or F16
  std::int64_t images = 0;
  std::int64_t channels = 0;  ///< number of channels, a multiple of 8
  PoolAxis height;
  PoolAxis width;

  /// Size in bytes of the index of a pixel in a window: 1, or 2 if a window has more than 256 pixels.
  [[nodiscard]] std::size_t winner_bytes() const { return height.kernel * width.kernel > 256 ? 2 : 1; }
  /// Number of elements of the result.
  [[nodiscard]] std::int64_t out_elements() const {
    return images * height.out * static_cast<std::int64_t>(width.out) * channels;
  }
};

/// Computes dst, the pooled src. `winner` receives, for each element of dst, the row-major index of the maximum in its
/// window, in winner_bytes() bytes; null: not stored. Reads src once, except where windows overlap; writes dst.
void pool(runtime::Stream& stream, const Pooling& pooling, const std::byte* src, std::byte* dst, std::byte* winner);
/// Computes diff_src from diff_dst: each pixel gathers from the windows that contain it. PoolOp::Max needs the `winner`
/// that pool() wrote.
void pool_gradient(runtime::Stream& stream, const Pooling& pooling, const std::byte* diff_dst, const std::byte* winner,
                   std::byte* diff_src);

}  // namespace roentgen::engine::cuda
