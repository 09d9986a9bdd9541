// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Shrinks pictures for an HTML page.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace roentgen::publish {

/// Pixels of a picture, 8 bits each, row-major, channels interleaved. Plain value.
struct Thumbnail {
  std::int64_t width_px = 0;
  std::int64_t height_px = 0;
  /// Number of channels: 1 gray, 3 RGB.
  int channels = 1;
  std::vector<std::uint8_t> pixels;
  friend bool operator==(const Thumbnail&, const Thumbnail&) = default;
};

/// Shrinks `picture` so that its longer side has `side_px` pixels, and keeps its proportions; each side has at least
/// one pixel. Returns a picture unchanged if its longer side is at most `side_px`. Each pixel is the rounded mean of
/// the area that it covers.
[[nodiscard]] Thumbnail shrink(const Thumbnail& picture, std::int64_t side_px);

}  // namespace roentgen::publish
