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

/// Encodes with the accurate DCT and without subsampling of colour; the same bytes for the same pixels and library
/// version. `quality` 1 to 100. ShapeError for a size that does not fit or a side above 65500, the library's limit;
/// ConfigError for another quality; DataError where the library fails, for want of memory say. Thread-safe.
[[nodiscard]] std::vector<std::byte> encode_jpeg(const JpegImage& image, int quality = 85);

}  // namespace roentgen::io
