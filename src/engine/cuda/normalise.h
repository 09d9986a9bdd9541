// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts raw gray levels of a batch slot to the network's input, on the device. Transfers are then a quarter (u8) or
// half (u16) of the bytes, and the host does no conversion.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/shape.h"
#include "engine/inputs.h"
#include "engine/plan/kernel.h"
#include "engine/plan/layout.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Work of normalise(): dst = v * scale[c] + shift[c] in float32, rounded to the type of dst. To get x = (v / white -
/// mean) / stddev, set scale = 1 / (white * stddev) and shift = -mean / stddev.
struct Normalise {
  /// Type of a gray level: U8 or U16.
  DType src = DType::U8;
  /// Type of a result: F32, Bf16 or F16 (rounded to nearest, ties to even).
  DType dst = DType::Bf16;
  std::int64_t images = 0;
  /// Number of channels: 1 or 3.
  std::int64_t channels = 1;
  /// Number of pixels, H * W.
  std::int64_t pixels = 0;
  /// Channels of dst: 4 or 8, as cuDNN's tensor-core kernels need. Channels from `channels` on are zero.
  std::int64_t dst_channels = 8;
  /// Factor of each channel.
  std::array<float, 3> scale{1.0F, 1.0F, 1.0F};
  std::array<float, 3> shift{};
};

/// Size in bytes of src, which is (N, C, H, W) as in the slot, and of dst, which is (N, H, W, dst_channels).
[[nodiscard]] std::size_t src_bytes(const Normalise& work);
[[nodiscard]] std::size_t dst_bytes(const Normalise& work);
/// Throws ConfigError naming the field if the kernel does not support these types, channels and sizes.
void check_normalise(const Normalise& work);

/// Queues the kernel. Throws ConfigError as check_normalise() does, and DeviceError if the launch is refused or the
/// stream is not a CUDA stream. One thread per stream.
/// @param src device memory of src_bytes()
/// @param dst device memory of dst_bytes()
void normalise(runtime::Stream& stream, const Normalise& work, const std::byte* src, std::byte* dst);

/// Returns the plan kernel of PlanBuilder::normalise(). `to` must be channels last. The kernel queues its work on
/// `stream`. Throws ConfigError as check_normalise() does.
[[nodiscard]] std::unique_ptr<Kernel> normalise_kernel(const Located& from, const Located& to,
                                                       const std::vector<PixelScale>& scales, runtime::Stream* stream);

}  // namespace roentgen::engine::cuda
