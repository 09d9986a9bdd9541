// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes PNG files (libspng). data/codec reads images for training.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace roentgen::io {

/// An image to encode: row-major, interleaved channels, no padding between rows.
struct PngImage {
  std::int64_t width_px = 0;
  std::int64_t height_px = 0;
  /// Number of channels: 1 gray, 3 RGB, 4 RGBA.
  int channels = 1;
  /// Bits per channel, 8 or 16. 16-bit samples have the machine's byte order.
  int bits = 8;
  /// Number of upper bits that contain measured values, written as an sBIT chunk; 0: all, without a chunk.
  int significant_bits = 0;
  std::span<const std::byte> pixels;
};

/// Encodes an image and tries all filters per row. The same pixels and library version give the same bytes. `level` is
/// 1 to 9.
[[nodiscard]] std::vector<std::byte> encode_png(const PngImage& image, int level = 6);
/// Encodes an image and writes it atomically.
void write_png(const std::filesystem::path& path, const PngImage& image, int level = 6);

}  // namespace roentgen::io
