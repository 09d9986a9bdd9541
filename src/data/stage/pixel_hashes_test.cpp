// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/pixel_hashes.h"

#include <gtest/gtest.h>

#include "data/transform/transform_testing.h"

namespace roentgen::data {
namespace {

TEST(PixelHash, is_of_the_pixels_and_their_form) {
  const Image image = random_image({.width_px = 8, .height_px = 6}, 5);
  EXPECT_EQ(pixel_hash(image), pixel_hash(random_image({.width_px = 8, .height_px = 6}, 5)));
  EXPECT_NE(pixel_hash(image), pixel_hash(random_image({.width_px = 8, .height_px = 6}, 6)));
  Image other = random_image({.width_px = 8, .height_px = 6}, 5);
  other.bytes()[47] ^= std::byte{1};
  EXPECT_NE(pixel_hash(image), pixel_hash(other));
  Image turned({.width_px = 6, .height_px = 8});
  std::ranges::copy(image.bytes(), turned.bytes().begin());
  EXPECT_NE(pixel_hash(image), pixel_hash(turned));
}

TEST(PixelHash, of_8_bits_stored_as_16_is_that_of_8) {
  const Image narrow = random_image({.width_px = 8, .height_px = 6}, 5);
  Image wide = make_image({.width_px = 8, .height_px = 6, .bits = 16, .max_value = 65535},
                          [&](auto x, auto y, auto) { return 257.0 * level_at(narrow, x, y, 0); });
  EXPECT_EQ(pixel_hash(wide), pixel_hash(narrow));
  ++wide.samples<std::uint16_t>()[17];
  EXPECT_NE(pixel_hash(wide), pixel_hash(narrow));
}

TEST(PixelHash, of_gray_stored_as_colour_is_that_of_gray) {
  const Image gray = random_image({.width_px = 8, .height_px = 6}, 5);
  for (const int bits : {8, 16}) {
    const ImageLayout layout{
        .width_px = 8, .height_px = 6, .channels = 3, .bits = bits, .max_value = bits == 8 ? 255U : 65535U};
    const auto level = [&](auto x, auto y) { return (bits == 8 ? 1.0 : 257.0) * level_at(gray, x, y, 0); };
    EXPECT_EQ(pixel_hash(make_image(layout, [&](auto x, auto y, auto) { return level(x, y); })), pixel_hash(gray));
    const Image red = make_image(layout, [&](auto x, auto y, auto channel) {
      return x == 7 && y == 5 && channel == 0 ? 255.0 - level_at(gray, x, y, 0) : level(x, y);
    });
    EXPECT_NE(pixel_hash(red), pixel_hash(gray)) << bits;
  }
  // 16-bit gray levels that do not fit into 8 bits.
  const Image fine = random_image({.width_px = 8, .height_px = 6, .bits = 16, .max_value = 65535}, 5);
  const Image colour = make_image({.width_px = 8, .height_px = 6, .channels = 3, .bits = 16, .max_value = 65535},
                                  [&](auto x, auto y, auto) { return level_at(fine, x, y, 0); });
  EXPECT_EQ(pixel_hash(colour), pixel_hash(fine));
}

TEST(PixelHash, of_a_blank_image_is_none) {
  for (const int channels : {1, 3}) {
    const Image blank =
        make_image({.width_px = 5, .height_px = 4, .channels = channels},
                   [](auto, auto, std::int64_t channel) { return 40.0 + 10.0 * static_cast<double>(channel); });
    EXPECT_EQ(pixel_hash(blank), 0U);
  }
}

TEST(PixelHash, has_sixteen_digits) {
  EXPECT_EQ(pixel_hash_text(0xabcU), "0000000000000abc");
  PixelHashes hashes(3);
  hashes.set(2, 7);
  EXPECT_EQ(hashes.get(2), 7U);
  EXPECT_EQ(hashes.get(0), 0U);
}

}  // namespace
}  // namespace roentgen::data
