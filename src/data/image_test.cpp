// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/image.h"

#include <gtest/gtest.h>

#include <array>

namespace roentgen::data {
namespace {

TEST(Image, shows_borrowed_pixels_where_they_lie) {
  const std::array<std::byte, 6> pixels{};
  Image image;
  image.show({.width_px = 3, .height_px = 2}, pixels);
  EXPECT_EQ(std::as_const(image).bytes().data(), pixels.data());
  EXPECT_EQ(std::as_const(image).samples<std::uint8_t>().size(), 6U);
}

TEST(Image, has_memory_of_its_own_again_after_a_reset) {
  const std::array<std::byte, 6> pixels{};
  Image image;
  image.show({.width_px = 3, .height_px = 2}, pixels);
  image.reset({.width_px = 2, .height_px = 2});
  EXPECT_NE(image.bytes().data(), pixels.data());
  EXPECT_EQ(std::as_const(image).bytes().data(), image.bytes().data());
}

}  // namespace
}  // namespace roentgen::data
