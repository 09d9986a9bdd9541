// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Small copies of pictures for a page.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace roentgen::publish {

/// 8-bit pixels, row-major, interleaved. Plain value.
struct Thumbnail {
  std::int64_t width_px = 0;
  std::int64_t height_px = 0;
  /// 1 gray, 3 RGB.
  int channels = 1;
  std::vector<std::uint8_t> pixels;
  friend bool operator==(const Thumbnail&, const Thumbnail&) = default;
};

/// `picture` shrunk so that its longer side has `side_px`, with its proportions kept (at least one pixel); unchanged if
/// it is not longer. Each pixel is the mean of the area that it covers, rounded.
[[nodiscard]] Thumbnail shrink(const Thumbnail& picture, std::int64_t side_px);

}  // namespace roentgen::publish
