// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The fast way through the PNGs that radiographs come in: not interlaced, gray, RGB or RGBA of 8 or 16 bits, every
// chunk sound and in its place. ISA-L inflates into rows, png_filters.h undoes their filters while they are in the
// cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "data/codec/codec.h"

namespace roentgen::data {

/// What the header of a PNG that this way is for says.
struct PngShape {
  std::size_t width = 0;
  std::size_t height = 0;
  /// Interleaved: 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA.
  int channels = 1;
  /// 8 or 16.
  int bits = 8;

  [[nodiscard]] int pixel_bytes() const { return channels * bits / 8; }
  [[nodiscard]] std::size_t row_bytes() const { return width * static_cast<std::size_t>(pixel_bytes()); }
};

/// The shape of a file that begins with PNG's signature, if it is one for this way.
[[nodiscard]] std::optional<PngShape> stream_shape(std::span<const std::byte> bytes);

/// Decodes into `out` (height * row_bytes bytes; samples of 16 bits in the machine's order). The pixels are libpng's.
/// @return false for whatever is not as above: another kind of chunk than expected, a checksum that does not hold
/// (CRC-32 of every chunk of the picture, Adler-32 of the pixels), data too short or too long; `out` is then undefined,
/// and libspng decides what to make of the file (png.cpp).
[[nodiscard]] bool decode_png_stream(std::span<const std::byte> bytes, const PngShape& shape, std::span<std::byte> out,
                                     DecodeScratch& scratch);

}  // namespace roentgen::data
