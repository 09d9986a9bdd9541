// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/localisation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace roentgen::eval {
namespace {

using testing::HasSubstr;

constexpr double kRounding = 1e-12;  // rounding error of a few operations on doubles near 1

HeatMap make_map(std::int64_t width, std::int64_t height, std::vector<float> values) {
  HeatMap map{.width_px = width, .height_px = height, .values = std::move(values)};
  map.low = INFINITY;
  map.high = -INFINITY;
  for (const float value : map.values) {
    if (std::isnan(value)) continue;
    map.low = std::min(map.low, value);
    map.high = std::max(map.high, value);
  }
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    if (map.values[i] == map.high) map.peaks.push_back(i);
  }
  return map;
}

TEST(IntersectionOverUnion, of_boxes_by_hand) {
  const Box a{0, 0, 4, 2};
  EXPECT_DOUBLE_EQ(intersection_over_union(a, a), 1.0);
  EXPECT_DOUBLE_EQ(intersection_over_union(a, {2, 1, 4, 2}), 2.0 / 14.0);
  EXPECT_DOUBLE_EQ(intersection_over_union(a, {4, 0, 4, 2}), 0.0);
  EXPECT_DOUBLE_EQ(intersection_over_union(a, {1, 0, 2, 1}), 2.0 / 8.0);
}

TEST(PointingGame, hits_where_the_peak_lies_in_a_box) {
  const HeatMap map = make_map(4, 2, {0, 0, 0, 0, 0, 0, 9, 0});
  EXPECT_EQ(pointing_hit(map, std::vector<Box>{{2, 1, 1, 1}}), 1.0);
  EXPECT_EQ(pointing_hit(map, std::vector<Box>{{0, 0, 2, 2}}), 0.0);
  EXPECT_EQ(pointing_hit(map, std::vector<Box>{{0, 0, 2, 2}, {2, 1, 2, 1}}), 1.0);
}

TEST(PointingGame, shares_a_hit_among_equal_peaks_so_that_a_flat_map_scores_chance) {
  const std::vector<Box> box{{0, 0, 2, 1}};
  const HeatMap flat = make_map(4, 2, std::vector<float>(8, 1.0F));
  EXPECT_DOUBLE_EQ(pointing_hit(flat, box), 2.0 / 8.0);
  EXPECT_DOUBLE_EQ(pointing_chance(flat, box), 2.0 / 8.0);
}

// Two boxes of 20 x 30 and 10 x 10 pixels overlap in 5 x 5. A random point of a picture of 100 x 80 lies in a box with
// probability (600 + 100 - 25) / 8000.
TEST(PointingGame, chance_is_the_share_of_the_area) {
  const HeatMap map = make_map(100, 80, std::vector<float>(8000, 0.0F));
  const std::vector<Box> boxes{{10, 20, 20, 30}, {25, 45, 10, 10}};
  EXPECT_NEAR(pointing_chance(map, boxes), (600.0 + 100.0 - 25.0) / 8000.0, kRounding);
}

TEST(PointingGame, chance_leaves_out_what_the_network_did_not_see) {
  std::vector<float> values(8, 0.0F);
  values[0] = values[4] = NAN;
  EXPECT_DOUBLE_EQ(pointing_chance(make_map(4, 2, values), std::vector<Box>{{0, 0, 2, 2}}), 2.0 / 6.0);
}

TEST(PointingGame, on_masks_asks_for_the_very_pixel_and_leaves_out_what_was_not_seen) {
  const Mask mask{.width_px = 4, .height_px = 2, .is_inside = {true, false, false, false, false, false, true, false}};
  const HeatMap map = make_map(4, 2, {NAN, 0, 0, 0, 0, 0, 9, 0});
  EXPECT_EQ(pointing_hit(map, mask), 1.0);
  EXPECT_DOUBLE_EQ(pointing_chance(map, mask), 1.0 / 7.0);
  EXPECT_EQ(pointing_hit(make_map(4, 2, {0, 0, 0, 0, 0, 9, 0, 0}), mask), 0.0);
  EXPECT_DOUBLE_EQ(pointing_hit(make_map(4, 2, std::vector<float>(8, 1.0F)), mask), 2.0 / 8.0);
}

TEST(HeatBox, is_around_the_part_that_holds_the_peak) {
  // The cell of value 6 is connected to the peak; the 7 on the right is not.
  const HeatMap map = make_map(6, 3,
                               {0, 0, 0, 0, 0, 0,  //
                                0, 8, 6, 0, 0, 7,  //
                                0, 0, 6, 0, 0, 0});
  const Box box = heat_box(map);
  EXPECT_EQ(box.x, 1.0);
  EXPECT_EQ(box.y, 1.0);
  EXPECT_EQ(box.width, 2.0);
  EXPECT_EQ(box.height, 2.0);
}

TEST(HeatBox, of_a_flat_map_is_all_that_was_seen) {
  const Box box = heat_box(make_map(3, 1, {NAN, 1.0F, 1.0F}));
  EXPECT_EQ(box.x, 1.0);
  EXPECT_EQ(box.width, 2.0);
}

// The boxes are w wide and as high as the picture, so only x varies. At an offset of d pixels, IoU is (w - d) / (w +
// d), which is >= t if d <= w (1 - t) / (1 + t). If the true box is away from the edges, 2 floor() + 1 of the W - w + 1
// positions reach it.
TEST(IouChance, equals_its_closed_form_in_one_dimension) {
  constexpr std::int64_t kWidth = 100;
  constexpr std::int64_t kHeight = 20;
  constexpr double kSide = 30.0;
  const auto chances = iou_chances({0, 0, kSide, 20}, std::vector<Box>{{40, 0, kSide, 20}}, kWidth, kHeight);
  for (std::size_t i = 0; i < kIouThresholds.size(); ++i) {
    const double t = kIouThresholds[i];
    // Adds 1e-9 against rounding: at threshold 0.5, the limit is exactly the offset d = 10, which counts.
    const double reach = std::floor(kSide * (1.0 - t) / (1.0 + t) + 1e-9);
    EXPECT_NEAR(chances[i], (2.0 * reach + 1.0) / (static_cast<double>(kWidth) - kSide + 1.0), kRounding) << t;
  }
}

TEST(IouChance, is_certain_where_the_boxes_fill_the_picture) {
  const auto chances = iou_chances({0, 0, 10, 10}, std::vector<Box>{{0, 0, 10, 10}}, 10, 10);
  EXPECT_THAT(chances, testing::Each(1.0));
}

TEST(IouChance, takes_the_better_of_two_boxes) {
  const std::vector<Box> one{{0, 0, 10, 10}};
  const std::vector<Box> two{{0, 0, 10, 10}, {50, 50, 10, 10}};
  const auto single = iou_chances({0, 0, 10, 10}, one, 100, 100);
  const auto both = iou_chances({0, 0, 10, 10}, two, 100, 100);
  for (std::size_t i = 0; i < both.size(); ++i) EXPECT_GT(both[i], single[i]);
}

TEST(Localisation, adds_maps_up_to_means) {
  LocalisationRow row{.label = "Mass"};
  const HeatMap map = make_map(4, 2, {0, 0, 0, 0, 0, 0, 9, 0});
  row.add(map, std::vector<Box>{{2, 1, 1, 1}});
  row.add(map, std::vector<Box>{{0, 0, 1, 1}});
  const std::vector<LocalisationRow> rows{row, {.label = "Hernia"}};
  const Value value = to_value(rows);
  EXPECT_EQ(value.at("labels").as_table().size(), 1U);
  EXPECT_DOUBLE_EQ(value.at("all").at("pointing").as_double(), 0.5);
  EXPECT_DOUBLE_EQ(value.at("all").at("pointing_chance").as_double(), 1.0 / 8.0);
  EXPECT_DOUBLE_EQ(value.at("all").at("accuracy").as_array()[6].as_double(), 0.5);
  EXPECT_DOUBLE_EQ(value.at("all").at("accuracy_chance").as_array()[6].as_double(), 1.0 / 8.0);
  EXPECT_THAT(to_text(rows), HasSubstr("0.500 (0.125)"));
  EXPECT_THAT(to_text(rows), testing::Not(HasSubstr("Hernia")));
}

TEST(Localisation, shows_columns_of_what_there_is) {
  const HeatMap map = make_map(4, 2, {0, 0, 0, 0, 0, 0, 9, 0});
  LocalisationRow mass{.label = "Mass"};
  mass.add(map, Mask{.width_px = 4, .height_px = 2, .is_inside = {false, false, true, true, false, false, true, true}});
  const std::vector<LocalisationRow> masks_only{mass};
  EXPECT_THAT(to_text(masks_only), testing::AllOf(HasSubstr("1.000 (0.500)"), testing::Not(HasSubstr("IoU"))));
  const Value value = to_value(masks_only).at("labels").at("Mass");
  EXPECT_EQ(value.as_table().size(), 3U);
  EXPECT_DOUBLE_EQ(value.at("mask_pointing").as_double(), 1.0);
  EXPECT_DOUBLE_EQ(value.at("mask_pointing_chance").as_double(), 0.5);
  LocalisationRow edema{.label = "Edema"};
  edema.add(map, std::vector<Box>{{0, 0, 1, 1}});
  const std::vector<LocalisationRow> both{mass, edema};
  EXPECT_THAT(to_text(both), testing::AllOf(HasSubstr("IoU"), HasSubstr("pointing at masks"), HasSubstr(" -")));
  EXPECT_EQ(to_value(both).at("all").at("masks").as_integer(), 1);
}

TEST(Localisation, of_nothing_is_no_table) {
  const std::vector<LocalisationRow> rows{{.label = "Mass"}};
  EXPECT_EQ(to_text(rows), "");
  EXPECT_TRUE(to_value(rows).at("all").is_null());
}

}  // namespace
}  // namespace roentgen::eval
