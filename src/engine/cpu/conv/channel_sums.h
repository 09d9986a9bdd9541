// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Computes the gradient of a convolution's bias.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/cpu/plan/bf16.h"

namespace roentgen::engine::cpu {

/// Computes to[channel] = sum over images and pixels of `values`, in double, for the channels of block number `which`.
/// Values are nChw{block}c; a block has at most 16 channels.
template <class T>
inline void sum_channels(const T* values, std::int64_t images, std::int64_t blocks, std::int64_t pixels, int block,
                         std::int64_t which, float* to) {
  std::array<double, 16> sum{};
  for (std::int64_t image = 0; image < images; ++image) {
    const T* from = values + (image * blocks + which) * pixels * block;
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      for (int c = 0; c < block; ++c) sum[static_cast<std::size_t>(c)] += to_f32(from[pixel * block + c]);
    }
  }
  for (int c = 0; c < block; ++c) to[which * block + c] = static_cast<float>(sum[static_cast<std::size_t>(c)]);
}

}  // namespace roentgen::engine::cpu
