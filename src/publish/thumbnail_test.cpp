// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "publish/thumbnail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roentgen::publish {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(Shrink, takes_the_mean_of_what_a_pixel_covers) {
  const Thumbnail picture{.width_px = 4, .height_px = 2, .pixels = {0, 10, 20, 30, 2, 12, 22, 32}};
  const Thumbnail half = shrink(picture, 2);
  EXPECT_EQ(half.width_px, 2);
  EXPECT_EQ(half.height_px, 1);
  EXPECT_THAT(half.pixels, ElementsAre(6, 26));
}

TEST(Shrink, shares_pixels_that_lie_across_an_edge) {
  const Thumbnail picture{.width_px = 3, .height_px = 1, .pixels = {0, 90, 255}};
  EXPECT_THAT(shrink(picture, 2).pixels, ElementsAre(30, 200));  // (0 + 90 / 2) / 1.5 and (90 / 2 + 255) / 1.5
}

TEST(Shrink, keeps_proportions_channels_and_flat_pictures) {
  const Thumbnail picture{
      .width_px = 100, .height_px = 301, .channels = 3, .pixels = std::vector<std::uint8_t>(100 * 301 * 3, 255)};
  const Thumbnail small = shrink(picture, 30);
  EXPECT_EQ(small.width_px, 10);
  EXPECT_EQ(small.height_px, 30);
  EXPECT_EQ(small.pixels.size(), 900U);
  EXPECT_THAT(small.pixels, Each(255));
  const Thumbnail line{.width_px = 500, .height_px = 1, .pixels = std::vector<std::uint8_t>(500, 7)};
  EXPECT_EQ(shrink(line, 10).height_px, 1);
}

TEST(Shrink, leaves_small_pictures_alone) {
  const Thumbnail picture{.width_px = 2, .height_px = 2, .pixels = {1, 2, 3, 4}};
  EXPECT_EQ(shrink(picture, 2), picture);
  EXPECT_EQ(shrink(picture, 100), picture);
}

}  // namespace
}  // namespace roentgen::publish
