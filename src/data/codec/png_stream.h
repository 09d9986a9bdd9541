// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fast path for common radiograph PNGs: not interlaced; gray, RGB or RGBA with 8 or 16 bits; every chunk valid and in
// order. ISA-L inflates rows, and png_filters.h undoes their filters while they are still in cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "data/codec/codec.h"

namespace roentgen::data {

/// Header of a PNG that the fast path accepts.
struct PngShape {
  std::size_t width = 0;
  std::size_t height = 0;
  /// Interleaved channels: 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA.
  int channels = 1;
  /// Bits of a sample, 8 or 16.
  int bits = 8;

  [[nodiscard]] int pixel_bytes() const { return channels * bits / 8; }
  [[nodiscard]] std::size_t row_bytes() const { return width * static_cast<std::size_t>(pixel_bytes()); }
};

/// Returns the header of a PNG file that the fast path accepts; nullopt for other files.
[[nodiscard]] std::optional<PngShape> stream_shape(std::span<const std::byte> bytes);

/// Decodes into `out` (height * row_bytes bytes; samples of 16 bits in the machine's order). Pixels equal libpng's.
/// @return false for files that the fast path does not accept; `out` is then undefined, and the caller uses libspng
/// (png.cpp). Reasons are an unexpected kind of chunk, a wrong checksum, and too little or too much data. Checked are
/// the CRC-32 of every chunk of the picture and the Adler-32 of the pixels.
[[nodiscard]] bool decode_png_stream(std::span<const std::byte> bytes, const PngShape& shape, std::span<std::byte> out,
                                     DecodeScratch& scratch);

}  // namespace roentgen::data
