// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes PNG files (libspng). Reading images for training is data/codec's business.
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
  /// 1 gray, 3 RGB, 4 RGBA.
  int channels = 1;
  /// 8 or 16 bits a channel; 16-bit samples in the machine's order.
  int bits = 8;
  /// Number of upper bits with measured values, written as an sBIT chunk; 0: all, and no chunk.
  int significant_bits = 0;
  std::span<const std::byte> pixels;
};

/// Encodes with all filters tried per row; the same bytes for the same pixels and library version. `level` 1-9.
[[nodiscard]] std::vector<std::byte> encode_png(const PngImage& image, int level = 6);
/// Encodes and writes atomically.
void write_png(const std::filesystem::path& path, const PngImage& image, int level = 6);

}  // namespace roentgen::io
