// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels of pooling over windows and regions of images, channels last.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/shape.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Mean or maximum over each window, or mean over each region of a grid.
enum class PoolOp : std::uint8_t {
  Max,                ///< of the pixels inside the image; the first of equal values
  AverageWithPad,     ///< sum of the pixels inside the image / pixels of the window
  AverageWithoutPad,  ///< mean of the pixels inside the image
  Region,             ///< mean over graph::region(); windows are ignored
};

/// One axis of a pooling.
struct PoolAxis {
  int size = 1;    ///< pixels of the image
  int out = 1;     ///< pixels of the result
  int kernel = 1;  ///< of the window
  int stride = 1;  ///< from window to window
  int pad = 0;     ///< before and after the image
};

/// A pooling of (images, height, width, channels).
struct Pooling {
  PoolOp op = PoolOp::Max;
  DType type = DType::F32;  ///< of all values: F32, Bf16 or F16
  std::int64_t images = 0;
  std::int64_t channels = 0;  ///< a multiple of 8
  PoolAxis height;
  PoolAxis width;

  /// Bytes that number the pixels of a window: 1, or 2 for more than 256.
  [[nodiscard]] std::size_t winner_bytes() const { return height.kernel * width.kernel > 256 ? 2 : 1; }
  /// Elements of the result.
  [[nodiscard]] std::int64_t out_elements() const {
    return images * height.out * static_cast<std::int64_t>(width.out) * channels;
  }
};

/// dst = pooled src. `winner`: for each element of dst the number of the maximum in its window, row by row, in
/// winner_bytes() an element; null: not kept. Reads src once, but for windows that overlap; writes dst.
void pool(runtime::Stream& stream, const Pooling& pooling, const std::byte* src, std::byte* dst, std::byte* winner);
/// diff_src from diff_dst: every pixel gathers from the windows that it is in. `winner`: of pool(), for PoolOp::Max.
void pool_gradient(runtime::Stream& stream, const Pooling& pooling, const std::byte* diff_dst, const std::byte* winner,
                   std::byte* diff_src);

}  // namespace roentgen::engine::cuda
