// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// GrayPicture: an 8-bit gray picture that can be drawn on.
#pragma once

#include <cstdint>
#include <vector>

namespace roentgen::publish {

/// Pixels of a picture, row-major, one byte each. Value type.
struct GrayPicture {
  std::int64_t width_px = 0;
  std::int64_t height_px = 0;
  std::vector<std::uint8_t> pixels;

  GrayPicture() = default;
  /// Creates a black picture.
  GrayPicture(std::int64_t width, std::int64_t height)
      : width_px(width), height_px(height), pixels(static_cast<std::size_t>(width * height)) {}
  [[nodiscard]] bool has(std::int64_t x, std::int64_t y) const {
    return x >= 0 && x < width_px && y >= 0 && y < height_px;
  }
  [[nodiscard]] std::uint8_t& at(std::int64_t x, std::int64_t y) {
    return pixels[static_cast<std::size_t>(y * width_px + x)];
  }
  [[nodiscard]] std::uint8_t at(std::int64_t x, std::int64_t y) const {
    return pixels[static_cast<std::size_t>(y * width_px + x)];
  }
};

}  // namespace roentgen::publish
