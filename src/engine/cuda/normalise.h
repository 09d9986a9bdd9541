// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Conversion of a batch slot's raw gray levels to the network's input, on the device. The bus carries a quarter (u8) or
// half (u16) of the bytes, and the host does no work.
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

/// dst = v * scale[c] + shift[c] in float32, then rounded to dst's type. For x = (v / white - mean) / stddev:
/// scale = 1 / (white * stddev), shift = -mean / stddev.
struct Normalise {
  /// U8 or U16.
  DType src = DType::U8;
  /// F32, Bf16 or F16 (rounded to nearest, ties to even).
  DType dst = DType::Bf16;
  std::int64_t images = 0;
  /// 1 or 3.
  std::int64_t channels = 1;
  /// H * W.
  std::int64_t pixels = 0;
  /// Channels of dst, 4 or 8 (what cuDNN's tensor-core kernels want); those beyond `channels` are zero.
  std::int64_t dst_channels = 8;
  /// Per channel.
  std::array<float, 3> scale{1.0F, 1.0F, 1.0F};
  std::array<float, 3> shift{};
};

/// Bytes of src, (N, C, H, W) planes as in the slot, and of dst, (N, H, W, dst_channels).
[[nodiscard]] std::size_t src_bytes(const Normalise& work);
[[nodiscard]] std::size_t dst_bytes(const Normalise& work);
/// ConfigError naming the field unless types, channels and extents are what the kernel can do.
void check_normalise(const Normalise& work);

/// Queues the kernel. ConfigError as check_normalise(); DeviceError when the launch is refused or the stream is no CUDA
/// stream. One thread per stream.
/// @param src src_bytes() of device memory
/// @param dst dst_bytes() of device memory
void normalise(runtime::Stream& stream, const Normalise& work, const std::byte* src, std::byte* dst);

/// Plan kernel of PlanBuilder::normalise(): `to` lies channels-last. Queued on `stream`. ConfigError as
/// check_normalise().
[[nodiscard]] std::unique_ptr<Kernel> normalise_kernel(const Located& from, const Located& to,
                                                       const std::vector<PixelScale>& scales, runtime::Stream* stream);

}  // namespace roentgen::engine::cuda
