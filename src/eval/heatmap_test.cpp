// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/heatmap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace roentgen::eval {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;

// Squash: `inputs` network pixels over all `pixels` of the picture.
MapAxis squash(std::int64_t pixels, std::int64_t inputs) {
  return {.start = 0.0,
          .step = static_cast<double>(pixels) / static_cast<double>(inputs),
          .inputs = inputs,
          .pixels = pixels};
}

TEST(WeightedSum, adds_channels_by_their_weights) {
  // Two channels of 2 x 1 cells.
  const std::vector<float> features{1.0F, 2.0F, 10.0F, 20.0F};
  const std::vector<double> weights{3.0, -0.5};
  EXPECT_THAT(weighted_sum(features, weights, 2, 1).values, ElementsAre(-2.0F, -4.0F));
}

TEST(WeightedSum, is_flat_without_weight) {
  const std::vector<float> features{1.0F, 2.0F, 10.0F, 20.0F};
  EXPECT_THAT(weighted_sum(features, std::vector<double>{0.0, 0.0}, 2, 1).values, ElementsAre(0.0F, 0.0F));
}

// Cells 0 and 1 have their middles at pixels 2 and 6 of 8; pixel p has its own at p + 0.5.
TEST(MapBack, interpolates_between_the_middles_of_cells) {
  const HeatMap map = map_back({.width = 2, .height = 1, .values = {0.0F, 4.0F}}, squash(8, 4), squash(1, 4));
  EXPECT_THAT(map.values,
              ElementsAre(0.0F, 0.0F, FloatEq(0.5F), FloatEq(1.5F), FloatEq(2.5F), FloatEq(3.5F), 4.0F, 4.0F));
  EXPECT_EQ(map.low, 0.0F);
  EXPECT_EQ(map.high, 4.0F);
}

TEST(MapBack, keeps_a_flat_map_flat) {
  const HeatMap map =
      map_back({.width = 3, .height = 3, .values = std::vector<float>(9, 2.5F)}, squash(17, 32), squash(5, 32));
  EXPECT_THAT(map.values, testing::Each(2.5F));
}

// The middle 4 of 8 pixels were fed.
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
TEST(MapBack, drops_the_cells_of_a_pad) {
  const MapAxis x{.start = -2.0, .step = 1.0, .inputs = 8, .pixels = 4};
  const HeatMap map = map_back({.width = 4, .height = 1, .values = {100.0F, 1.0F, 3.0F, 100.0F}}, x, squash(1, 8));
  // Pixels at 0.25, 0.75 of cell 1, then of cell 2; the middles of the cells are at 0.5.
  EXPECT_THAT(map.values, ElementsAre(FloatNear(25.75F, 1e-4F), FloatNear(1.5F, 1e-6F), FloatNear(2.5F, 1e-6F),
                                      FloatNear(27.25F, 1e-4F)));
}

// Cells of 4 x 4 pixels whose middles lie between pixels 1 and 2, 5 and 6: of the constant corner behind a middle only
// the pixel next to it is the peak.
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
  HeatMap map{.width_px = 4, .height_px = 1, .values = {-1.0F, 2.0F, 0.5F, NAN}, .low = -1.0F, .high = 2.0F};
  const std::vector<std::uint8_t> gray{100, 200, 200, 50};
  // Nothing below 0; half of (0.5, 0, 0) at the largest; a quarter of (0, 0.5, 1) at a quarter of it.
  EXPECT_THAT(overlay(gray, map), ElementsAre(100, 100, 100, 164, 100, 100, 150, 182, 214, 50, 50, 50));
}

}  // namespace
}  // namespace roentgen::eval
