// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/heatmap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace roentgen::eval {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;

// Returns the axis of a squashed picture: `inputs` network pixels cover all `pixels` pixels of the picture.
MapAxis squash(std::int64_t pixels, std::int64_t inputs) {
  return {.start = 0.0,
          .step = static_cast<double>(pixels) / static_cast<double>(inputs),
          .inputs = inputs,
          .pixels = pixels};
}

TEST(WeightedSum, adds_channels_by_their_weights) {
  // Features of two channels with 2 x 1 cells.
  const std::vector<float> features{1.0F, 2.0F, 10.0F, 20.0F};
  const std::vector<double> weights{3.0, -0.5};
  EXPECT_THAT(weighted_sum(features, weights, 2, 1).values, ElementsAre(-2.0F, -4.0F));
}

TEST(WeightedSum, is_flat_without_weight) {
  const std::vector<float> features{1.0F, 2.0F, 10.0F, 20.0F};
  EXPECT_THAT(weighted_sum(features, std::vector<double>{0.0, 0.0}, 2, 1).values, ElementsAre(0.0F, 0.0F));
}

// Cells 0 and 1 have their middles at 2 and 6 of 8 pixels; pixel p has its middle at p + 0.5.
TEST(MapBack, interpolates_between_the_middles_of_cells) {
  const HeatMap map = map_back({.width = 2, .height = 1, .values = {0.0F, 4.0F}}, squash(8, 4), squash(1, 4));
  // 4 (3 t^2 - 2 t^3 + (t - 2 t^2 + t^3) / 2 + (t^2 - t^3) / -2) at t = 1/8, 3/8, ...: Keys' kernel for 0, 0, 4, 4.
  EXPECT_THAT(map.values, ElementsAre(0.0F, 0.0F, FloatEq(0.3359375F), FloatEq(1.3828125F), FloatEq(2.6171875F),
                                      FloatEq(3.6640625F), 4.0F, 4.0F));
  EXPECT_EQ(map.low, 0.0F);
  EXPECT_EQ(map.high, 4.0F);
}

// Cubic convolution reproduces parabolas, except near the border, where it lacks neighbouring cells (Keys 1981, section
// III).
TEST(MapBack, follows_a_parabola_to_its_peak_between_cells) {
  const auto parabola = [](double cell) { return 10.0 - (cell - 2.7) * (cell - 2.7); };
  CoarseMap cells{.width = 6, .height = 1, .values = {}};
  for (int i = 0; i < 6; ++i) cells.values.push_back(static_cast<float>(parabola(i)));
  const HeatMap map = map_back(cells, squash(60, 6), squash(1, 1));
  for (std::size_t p = 15; p < 45; ++p) {
    EXPECT_NEAR(map.values[p], parabola((static_cast<double>(p) + 0.5) / 10.0 - 0.5), 1e-5) << p;
  }
  EXPECT_THAT(map.peaks, testing::AnyOf(ElementsAre(31U), ElementsAre(32U), ElementsAre(31U, 32U)));
}

TEST(MapBack, treats_both_axes_alike) {
  CoarseMap wide{.width = 4, .height = 3, .values = {}},
      tall{.width = 3, .height = 4, .values = std::vector<float>(12)};
  for (std::size_t i = 0; i < 12; ++i) {
    wide.values.push_back(static_cast<float>(i * i % 7));
    tall.values[i % 4 * 3 + i / 4] = wide.values[i];
  }
  const HeatMap a = map_back(wide, squash(40, 4), squash(27, 3)), b = map_back(tall, squash(27, 3), squash(40, 4));
  for (std::size_t y = 0; y < 27; ++y) {
    for (std::size_t x = 0; x < 40; ++x) EXPECT_NEAR(a.values[y * 40 + x], b.values[x * 27 + y], 1e-6) << x << ' ' << y;
  }
}

// Two cells of -0.1 next to cells of -4: the cubic interpolation between them exceeds zero.
TEST(MapBack, of_negative_cells_is_nowhere_positive_whatever_lies_between_them) {
  const HeatMap map =
      map_back({.width = 4, .height = 1, .values = {-4.0F, -0.1F, -0.1F, -4.0F}}, squash(40, 4), squash(1, 1));
  EXPECT_GT(map.high, 0.0F);
  EXPECT_FALSE(map.is_anywhere_positive());
  const std::vector<std::uint8_t> gray(40, 100);
  EXPECT_THAT(overlay(gray, map), testing::Each(100));
}

TEST(MapBack, is_nowhere_below_the_least_cell) {
  const HeatMap map =
      map_back({.width = 5, .height = 1, .values = {0.0F, 0.0F, 4.0F, 0.0F, 0.0F}}, squash(50, 5), squash(1, 1));
  EXPECT_EQ(map.low, 0.0F);
  EXPECT_EQ(*std::ranges::min_element(map.values), 0.0F);
}

TEST(MapBack, keeps_a_flat_map_flat) {
  const HeatMap map =
      map_back({.width = 3, .height = 3, .values = std::vector<float>(9, 2.5F)}, squash(17, 32), squash(5, 32));
  EXPECT_THAT(map.values, testing::Each(2.5F));
}

// A crop keeps the 4 pixels in the middle of 8.
TEST(MapBack, leaves_what_a_crop_cut_off_unknown) {
  const MapAxis x{.start = 2.0, .step = 1.0, .inputs = 4, .pixels = 8};
  const HeatMap map = map_back({.width = 1, .height = 1, .values = {3.0F}}, x, squash(1, 4));
  ASSERT_EQ(map.values.size(), 8U);
  for (const std::size_t i : {0U, 1U, 6U, 7U}) EXPECT_TRUE(std::isnan(map.values[i])) << i;
  for (const std::size_t i : {2U, 3U, 4U, 5U}) EXPECT_EQ(map.values[i], 3.0F) << i;
  EXPECT_EQ(map.low, 3.0F);
  EXPECT_EQ(map.high, 3.0F);
}

// 4 pixels padded by 2 on either side to 8 network pixels: cells 0 and 3 of 4 lie outside the picture.
TEST(MapBack, reads_the_cells_of_a_pad_next_to_it_only) {
  const MapAxis x{.start = -2.0, .step = 1.0, .inputs = 8, .pixels = 4};
  const HeatMap map = map_back({.width = 4, .height = 1, .values = {100.0F, 1.0F, 3.0F, 100.0F}}, x, squash(1, 8));
  // The pixels lie 3/4 of the way from cell 0 to 1, 1/4 and 3/4 from 1 to 2, and 1/4 from 2 to 3. Keys' weights are -9,
  // 111, 29 and -3 (or the reverse) / 128. Near the steep slope to the padding, the second and the third value would
  // fall below the smallest cell, 1.
  EXPECT_THAT(map.values, ElementsAre(FloatNear(20.96875F, 1e-4F), 1.0F, 1.0F, FloatNear(22.84375F, 1e-4F)));
}

// Cells of 4 x 4 pixels have their middles between pixels 1 and 2, and between 5 and 6. The map is constant beyond the
// middle of the corner cell, where only the pixel next to the middle is the peak.
TEST(MapBack, has_its_peak_at_the_middle_of_a_cell) {
  const auto peaks = [](std::vector<float> cells) {
    return map_back({.width = 2, .height = 2, .values = std::move(cells)}, squash(8, 4), squash(8, 4)).peaks;
  };
  EXPECT_THAT(peaks({0, 0, 0, 1}), ElementsAre(6U * 8U + 6U));
  EXPECT_THAT(peaks({1, 0, 0, 0}), ElementsAre(1U * 8U + 1U));
  EXPECT_THAT(peaks({0, 1, 0, 0}), ElementsAre(1U * 8U + 6U));
  EXPECT_EQ(peaks({1, 1, 1, 1}).size(), 64U);
}

TEST(Jet, runs_from_blue_by_green_to_red) {
  EXPECT_DOUBLE_EQ(jet(0.0).blue, 0.5);
  EXPECT_DOUBLE_EQ(jet(0.0).red, 0.0);
  EXPECT_DOUBLE_EQ(jet(0.5).green, 1.0);
  EXPECT_DOUBLE_EQ(jet(1.0).red, 0.5);
  EXPECT_DOUBLE_EQ(jet(1.0).blue, 0.0);
}

TEST(Overlay, covers_the_picture_by_as_much_as_the_map_says) {
  const HeatMap map{.width_px = 4,
                    .height_px = 1,
                    .values = {-1.0F, 2.0F, 0.5F, NAN},
                    .low = -1.0F,
                    .high = 2.0F,
                    .highest_cell = 2.0F};
  const std::vector<std::uint8_t> gray{100, 200, 200, 50};
  // Negative values and NaN leave the gray value. The largest value mixes in half of the colour (0.5, 0, 0). A quarter
  // of the largest value mixes in a quarter of (0, 0.5, 1).
  EXPECT_THAT(overlay(gray, map), ElementsAre(100, 100, 100, 164, 100, 100, 150, 182, 214, 50, 50, 50));
}

}  // namespace
}  // namespace roentgen::eval
