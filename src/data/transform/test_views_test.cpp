// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/transform/test_views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "core/error.h"
#include "data/transform/transform_testing.h"

namespace roentgen::data {
namespace {

TEST(TestViews, are_as_many_as_their_name_says) {
  EXPECT_EQ(test_views("none"), (std::vector<AugmentDraw>{AugmentDraw{}}));
  EXPECT_EQ(test_views("flip"), (std::vector<AugmentDraw>{AugmentDraw{}, AugmentDraw{.flip = true}}));
  EXPECT_EQ(test_views("five-crop").size(), 5U);
  EXPECT_EQ(test_views("ten-crop").size(), 10U);
}

TEST(TestViews, of_crops_reach_the_middle_and_all_corners) {
  const std::vector<AugmentDraw> views = test_views("ten-crop");
  std::set<std::pair<double, double>> corners;
  for (const AugmentDraw& view : views) {
    EXPECT_EQ(view.crop_width, 0.875);
    EXPECT_EQ(view.crop_height, 0.875);
    corners.emplace(view.crop_x - view.crop_width / 2, view.crop_y - view.crop_height / 2);  // the crop's top left
  }
  EXPECT_EQ(corners, (std::set<std::pair<double, double>>{
                         {0.0625, 0.0625}, {0.0, 0.0}, {0.125, 0.0}, {0.0, 0.125}, {0.125, 0.125}}));
  for (std::size_t i = 0; i < 5; ++i) {
    AugmentDraw mirror = views[i];
    mirror.flip = true;
    EXPECT_EQ(views[i + 5], mirror);
  }
}

// A crop of 7/8 of an 8x8 picture at size 7 maps pixels one to one, so corners are cut and mirrored without blending.
TEST(TestViews, of_crops_are_the_parts_of_the_picture) {
  const Image image = random_image({.width_px = 8, .height_px = 8}, 5);
  const std::vector<AugmentDraw> views = test_views("ten-crop");
  for (std::size_t i = 1; i < 5; ++i) {
    const std::vector<float> part = transform(image, unit(7), &views[i]);
    const std::vector<float> mirrored = transform(image, unit(7), &views[i + 5]);
    for (std::int64_t y = 0; y < 7; ++y) {
      for (std::int64_t x = 0; x < 7; ++x) {
        const double level = level_at(image, x + (i % 2 == 0 ? 1 : 0), y + (i > 2 ? 1 : 0), 0) / 255.0;
        // Rounding a pixel position to float32 changes a weight by 1e-6.
        EXPECT_NEAR(part[static_cast<std::size_t>(7 * y + x)], level, 1e-5) << i;
        EXPECT_NEAR(mirrored[static_cast<std::size_t>(7 * y + 6 - x)], level, 1e-5) << i;
      }
    }
  }
}

TEST(TestViews, of_crops_are_cuts_where_the_input_is_one) {
  const Image image = random_image({.width_px = 9, .height_px = 9}, 6);
  Preprocess preprocess = unit(7);
  preprocess.resize_px = 9;
  constexpr std::array<std::pair<int, int>, 5> kFirsts{{{1, 1}, {0, 0}, {2, 0}, {0, 2}, {2, 2}}};
  const std::vector<AugmentDraw> views = test_views("five-crop", preprocess);
  ASSERT_EQ(views.size(), kFirsts.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    const auto [x, y] = kFirsts[i];
    EXPECT_NEAR(transform(image, preprocess, &views[i])[0], level_at(image, x, y, 0) / 255.0, 1e-6) << i;
  }
}

TEST(TestViews, refuse_another_name) {
  try {
    static_cast<void>(test_views("six-crop"));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("expected one of none, flip, five-crop, ten-crop, got six-crop"));
  }
}

}  // namespace
}  // namespace roentgen::data
