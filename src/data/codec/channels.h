// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts images between channel counts, such as RGB to gray. codec.h lists the rules.
#pragma once

#include <cstdint>
#include <span>

#include "data/image.h"

namespace roentgen::data {

/// ITU-R 601 luma with Pillow's weights and rounding, for 8 or 16 bits. Returns exactly r if r = g = b.
[[nodiscard]] constexpr std::uint32_t luma(std::uint32_t r, std::uint32_t g, std::uint32_t b) {
  return static_cast<std::uint32_t>(
      (std::uint64_t{19595} * r + std::uint64_t{38470} * g + std::uint64_t{7471} * b + 32768U) >> 16U);
}

/// Samples with interleaved channels, and the number of channels.
template <typename T>
struct PixelSpan {
  std::span<T> samples;
  int channels = 1;
};

/// Converts all pixels. `src` has 1 (gray), 2 (gray, alpha), 3 (RGB) or 4 (RGBA) channels; `dst` has 1 (gray) or 3
/// (RGB). Alpha is dropped. Both must have the same number of pixels and must not overlap.
void convert_channels(PixelSpan<const std::uint8_t> src, PixelSpan<std::uint8_t> dst);
void convert_channels(PixelSpan<const std::uint16_t> src, PixelSpan<std::uint16_t> dst);

/// Converts an RGB image to gray; Image::part does not change.
void make_gray(const Image& colour, Image& out);
/// True if R = G = B in every pixel of an image with three channels.
[[nodiscard]] bool has_equal_channels(const Image& colour);

}  // namespace roentgen::data
