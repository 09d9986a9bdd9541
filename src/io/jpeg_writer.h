// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes JPEG images (TurboJPEG), for pictures to look at. Reading images is data/codec's business.
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
  /// 1 gray, 3 RGB.
  int channels = 1;
  std::span<const std::uint8_t> pixels;
};

/// Encodes with the accurate DCT and without colour subsampling. Gives the same bytes for the same pixels and library
/// version. `quality` 1 to 100. Throws ShapeError for a size that does not fit or a side above 65500, the library's
/// limit. Throws ConfigError for another quality, and DataError where the library fails, such as for want of memory.
/// Thread-safe.
[[nodiscard]] std::vector<std::byte> encode_jpeg(const JpegImage& image, int quality = 85);

}  // namespace roentgen::io
