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
