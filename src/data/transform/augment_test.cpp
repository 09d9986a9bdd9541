// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/transform/augment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"

namespace roentgen::data {
namespace {

constexpr Augment kAll{.rotate_deg = 10.0,
                       .shear_deg = 5.0,
                       .translate = 0.05,
                       .scale = 0.1,
                       .crop_area_min = 0.8,
                       .flip_probability = 0.5,
                       .is_crop_random = true,
                       .brightness = 0.2,
                       .contrast = 0.3};

AugmentDraw draw_of(const Augment& augment, std::uint64_t sample) {
  Random random(77, RandomStage::Augment, sample);
  return draw(augment, random);
}

// The number is XXH3 (64 bits) of the name, on any machine, because recipes must produce the same pictures in later
// versions.
TEST(Augment, draws_by_the_name_of_the_image_seed_and_epoch) {
  const AugmentKey key{.seed = 77, .epoch = 0, .id = "00000001_000.png"};
  EXPECT_EQ(draw(kAll, key), draw_of(kAll, 0x13c48e2c71cf6039ULL));
  AugmentKey other = key;
  other.id = "00000001_001.png";
  EXPECT_NE(draw(kAll, key), draw(kAll, other));
  other = {.seed = 78, .epoch = 0, .id = key.id};
  EXPECT_NE(draw(kAll, key), draw(kAll, other));
  other = {.seed = 77, .epoch = 1, .id = key.id};
  EXPECT_NE(draw(kAll, key), draw(kAll, other));
}

TEST(Augment, draws_the_identity_by_default) {
  EXPECT_TRUE(Augment{}.is_none());
  for (std::uint64_t sample = 0; sample < 100; ++sample) EXPECT_EQ(draw_of({}, sample), AugmentDraw{});
}

TEST(Augment, draws_the_same_from_the_same_stream) { EXPECT_EQ(draw_of(kAll, 3), draw_of(kAll, 3)); }

TEST(Augment, draws_within_its_ranges) {
  for (std::uint64_t sample = 0; sample < 2000; ++sample) {
    const AugmentDraw drawn = draw_of(kAll, sample);
    ASSERT_LE(std::abs(drawn.rotate_rad), 10.0 * std::numbers::pi / 180.0);
    ASSERT_LE(std::max(std::abs(drawn.shift_x), std::abs(drawn.shift_y)), 0.05);
    ASSERT_LE(std::abs(drawn.shear), std::tan(5.0 * std::numbers::pi / 180.0) + 1e-12);
    ASSERT_LE(std::abs(drawn.zoom - 1.0), 0.1);
    ASSERT_GE(drawn.crop_width * drawn.crop_height, 0.8 - 1e-12);
    ASSERT_LE(drawn.crop_width * drawn.crop_height, 1.0);
    // The crop must lie within the picture.
    ASSERT_GE(drawn.crop_x - drawn.crop_width / 2, -1e-12);
    ASSERT_LE(drawn.crop_x + drawn.crop_width / 2, 1.0 + 1e-12);
    ASSERT_GE(drawn.crop_y - drawn.crop_height / 2, -1e-12);
    ASSERT_LE(drawn.crop_y + drawn.crop_height / 2, 1.0 + 1e-12);
    ASSERT_GT(std::min(drawn.cut_x, drawn.cut_y), 0.0);
    ASSERT_LE(std::max(drawn.cut_x, drawn.cut_y), 1.0);
    ASSERT_LE(std::abs(drawn.brightness), 0.2);
    ASSERT_LE(std::abs(drawn.contrast - 1.0), 0.3);
  }
}

// Mean and spread of uniform draws, with a tolerance of 4 standard errors of 4,000 draws.
TEST(Augment, draws_evenly) {
  constexpr int kDraws = 4000;
  double turn = 0.0;
  double area = 0.0;
  int flips = 0;
  for (std::uint64_t sample = 0; sample < kDraws; ++sample) {
    const AugmentDraw drawn = draw_of(kAll, sample);
    turn += drawn.rotate_rad * 180.0 / std::numbers::pi / kDraws;
    area += drawn.crop_width * drawn.crop_height / kDraws;
    flips += drawn.flip ? 1 : 0;
  }
  EXPECT_NEAR(turn, 0.0, 4.0 * 5.8 / std::sqrt(kDraws));
  EXPECT_NEAR(area, 0.9, 4.0 * 0.058 / std::sqrt(kDraws));
  EXPECT_NEAR(flips, kDraws / 2, 4.0 * 0.5 * std::sqrt(kDraws));
}

TEST(Augment, draws_each_number_apart_from_the_others) {
  Augment without_turn = kAll;
  without_turn.rotate_deg = 0.0;
  AugmentDraw expected = draw_of(kAll, 5);
  expected.rotate_rad = 0.0;
  EXPECT_EQ(draw_of(without_turn, 5), expected);
}

TEST(Augment, comes_back_from_its_value) {
  EXPECT_EQ(augment_from_value(kAll.to_value()), kAll);
  EXPECT_EQ(augment_from_value(Value::table()), Augment{});
}

// In torchvision's RandomResizedCrop, area and log(aspect) are uniform and are drawn again until the crop fits.
// Expected means come from the same rejection sampling in this test, with a tolerance of 4 standard errors of 4,000
// draws.
TEST(Augment, draws_parts_of_any_aspect_that_fit_in) {
  const Augment augment{.crop_area_min = 0.08, .crop_aspect_max = 4.0 / 3.0};
  Random random(5, RandomStage::Test);
  constexpr int kDraws = 4000;
  double area = 0.0, aspect = 0.0, expected_area = 0.0, expected_aspect = 0.0;
  for (std::uint64_t sample = 0; sample < kDraws; ++sample) {
    const AugmentDraw drawn = draw_of(augment, sample);
    const double ratio = drawn.crop_width / drawn.crop_height;
    ASSERT_GE(ratio, 0.75 - 1e-12);
    ASSERT_LE(ratio, 4.0 / 3.0 + 1e-12);
    ASSERT_GE(drawn.crop_width * drawn.crop_height, 0.08 - 1e-12);
    ASSERT_GE(drawn.crop_x - drawn.crop_width / 2, -1e-12);
    ASSERT_LE(drawn.crop_x + drawn.crop_width / 2, 1.0 + 1e-12);
    ASSERT_GE(drawn.crop_y - drawn.crop_height / 2, -1e-12);
    ASSERT_LE(drawn.crop_y + drawn.crop_height / 2, 1.0 + 1e-12);
    area += drawn.crop_width * drawn.crop_height / kDraws;
    aspect += std::log(ratio) / kDraws;
    for (int i = 0; i < 10; ++i) {
      const double a = random.uniform(0.08, 1.0), r = std::exp(random.uniform(-1.0, 1.0) * std::log(4.0 / 3.0));
      if (a * r > 1.0 || a / r > 1.0) continue;
      expected_area += a / kDraws;
      expected_aspect += std::log(r) / kDraws;
      break;
    }
  }
  EXPECT_NEAR(area, expected_area, 4.0 * 0.27 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(aspect, expected_aspect, 4.0 * 0.17 * std::sqrt(2.0 / kDraws));
}

// The random values for a seed must never change, because recipes depend on them.
TEST(Augment, draws_what_it_always_drew) {
  const AugmentDraw drawn = draw_of(kAll, 1);
  Augment without_crop = kAll;
  without_crop.is_crop_random = false;
  AugmentDraw middle = drawn;
  middle.cut_x = middle.cut_y = 0.5;
  EXPECT_EQ(draw_of(without_crop, 1), middle);
}

TEST(Augment, reads_as_one_line) {
  EXPECT_EQ(Augment{}.text(), "none");
  EXPECT_EQ((Augment{.rotate_deg = 10.0, .translate = 0.05, .crop_area_min = 0.8}).text(),
            "rotate 10 deg, translate 0.05, crop area >= 0.8");
}

TEST(Augment, refuses_unknown_keys_and_numbers_out_of_range) {
  Value table = Value::table();
  table.set("rotation", 5);
  EXPECT_THROW(static_cast<void>(augment_from_value(table)), ConfigError);
  for (const auto& [key, value] :
       {std::pair{"rotate", -1.0}, {"scale", 1.0}, {"crop_area", 0.0}, {"flip", 1.5}, {"flip", std::nan("")}}) {
    Value bad = Value::table();
    bad.set(key, value);
    EXPECT_THROW(static_cast<void>(augment_from_value(bad)), ConfigError) << key;
  }
  Value bad = Value::table();
  bad.set("random_crop", 1.0);
  EXPECT_THROW(static_cast<void>(augment_from_value(bad)), ConfigError);
}

}  // namespace
}  // namespace roentgen::data
