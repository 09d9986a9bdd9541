// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes JPEG images for viewing (TurboJPEG). data/codec reads images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace roentgen::io {

/// An 8-bit image to encode: row-major, interleaved channels, no padding between rows.
struct JpegImage {
  std::int64_t width_px = 0;
  std::int64_t height_px = 0;
  /// Number of channels: 1 gray, 3 RGB.
  int channels = 1;
  std::span<const std::uint8_t> pixels;
};

/// Encodes with the accurate DCT and without colour subsampling. The same pixels and library version give the same
/// bytes. `quality` is 1 to 100. Throws ShapeError if the pixels do not match the size, or a side exceeds the library's
/// limit of 65500. Throws ConfigError for another quality, and DataError if the library fails, for example for lack of
/// memory. Thread-safe.
[[nodiscard]] std::vector<std::byte> encode_jpeg(const JpegImage& image, int quality = 85);

}  // namespace roentgen::io
