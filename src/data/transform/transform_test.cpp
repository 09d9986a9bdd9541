// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Properties of transformed pictures that hold for every filter.
#include "data/transform/transform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "data/transform/transform_testing.h"

namespace roentgen::data {
namespace {

// Tolerance: weights are rounded to float32 (6e-8 each) and sums have about 10 x 10 of them.
constexpr double kRounding = 1e-6;

class BothFilters : public testing::TestWithParam<Filter> {
 protected:
  static Preprocess unit_of(std::int64_t size_px, Fit fit = Fit::Squash) {
    Preprocess preprocess = unit(size_px, fit);
    preprocess.filter = GetParam();
    return preprocess;
  }
};
INSTANTIATE_TEST_SUITE_P(Filters, BothFilters, testing::Values(Filter::Triangle, Filter::Area),
                         [](const testing::TestParamInfo<Filter>& filter) {
                           return std::string(name_of(filter.param));
                         });

TEST_P(BothFilters, keep_every_level_at_the_same_size) {
  const Image image = random_image({.width_px = 37, .height_px = 37}, 1);
  Preprocess preprocess = unit_of(37);
  const auto out = transform_to<std::uint8_t>(image, preprocess, DType::U8);
  EXPECT_TRUE(std::ranges::equal(out, image.samples<std::uint8_t>()));
}

TEST_P(BothFilters, keep_every_16_bit_level_at_the_same_size) {
  const Image image = random_image({.width_px = 37, .height_px = 37, .bits = 16, .max_value = 65535}, 2);
  const auto out = transform_to<std::uint16_t>(image, unit_of(37), DType::U16);
  EXPECT_TRUE(std::ranges::equal(out, image.samples<std::uint16_t>()));
}

TEST_P(BothFilters, keep_a_constant_picture_constant) {
  const Image image = make_image({.width_px = 91, .height_px = 57}, [](auto, auto, auto) { return 93.0; });
  for (const std::int64_t size : {1, 5, 32, 57, 200}) {
    for (const float v : transform(image, unit_of(size))) ASSERT_NEAR(v, 93.0 / 255.0, kRounding) << size;
  }
}

TEST_P(BothFilters, do_not_care_how_samples_are_stored) {
  const Image narrow = random_image({.width_px = 60, .height_px = 50}, 3);
  const Image wide = make_image({.width_px = 60, .height_px = 50, .bits = 16, .max_value = 65535},
                                [&](auto x, auto y, auto) { return 257.0 * level_at(narrow, x, y, 0); });
  for (const std::int64_t size : {16, 50, 77}) {
    EXPECT_EQ(transform(narrow, unit_of(size)), transform(wide, unit_of(size))) << size << ": to the last bit";
  }
}

TEST(Transform, scales_by_the_white_of_the_file) {
  const Image twelve_bit = make_image({.width_px = 4, .height_px = 4, .bits = 16, .max_value = 4095},
                                      [](auto, auto, auto) { return 4095.0; });
  for (const float v : transform(twelve_bit, unit(4))) EXPECT_FLOAT_EQ(v, 1.0F);
}

TEST(Transform, normalises_each_channel_by_its_own_mean_and_std) {
  const Image image = make_image({.width_px = 8, .height_px = 8, .channels = 3},
                                 [](auto, auto, auto channel) { return 51.0 * static_cast<double>(channel + 1); });
  Preprocess preprocess = preset("imagenet");
  preprocess.size_px = 8;
  const std::vector<float> out = transform(image, preprocess);
  EXPECT_NEAR(out[0], (0.2 - 0.485) / 0.229, 1e-5);
  EXPECT_NEAR(out[64], (0.4 - 0.456) / 0.224, 1e-5);
  EXPECT_NEAR(out[128], (0.6 - 0.406) / 0.225, 1e-5);
}

TEST(Transform, spans_minus_1024_to_1024_under_xrv) {
  const Image image =
      make_image({.width_px = 2, .height_px = 2}, [](auto x, auto, auto) { return x == 0 ? 0.0 : 255.0; });
  Preprocess preprocess = preset("xrv");
  preprocess.size_px = 2;
  EXPECT_THAT(transform(image, preprocess), testing::ElementsAre(-1024.0F, 1024.0F, -1024.0F, 1024.0F));
}

TEST(Transform, fills_three_channels_from_gray) {
  const Image image = random_image({.width_px = 30, .height_px = 30}, 4);
  const std::vector<float> gray = transform(image, unit(10));
  const std::vector<float> rgb = transform(image, unit(10, Fit::Squash, 3));
  for (std::size_t i = 0; i < rgb.size(); ++i) ASSERT_EQ(rgb[i], gray[i % gray.size()]);
}

TEST(Transform, gives_gray_of_equal_colours_as_of_gray) {
  const Image gray = random_image({.width_px = 30, .height_px = 30}, 5);
  const Image rgb = make_image({.width_px = 30, .height_px = 30, .channels = 3},
                               [&](auto x, auto y, auto) { return level_at(gray, x, y, 0); });
  EXPECT_LE(largest_difference(transform(rgb, unit(10)), transform(gray, unit(10))), kRounding);
}

TEST(Transform, crop_shows_the_middle_square) {
  const Image image = random_image({.width_px = 41, .height_px = 20}, 6);
  const auto out = transform_to<std::uint8_t>(image, unit(20, Fit::Crop), DType::U8);
  for (std::int64_t y = 0; y < 20; ++y) {
    for (std::int64_t x = 0; x < 20; ++x) {
      ASSERT_EQ(out[static_cast<std::size_t>(y * 20 + x)], level_at(image, x + 10, y, 0));
    }
  }
}

// Caffe and torchvision cut whole pixels from the fitted picture: at any position, by default at the centre.
TEST(Transform, cuts_whole_pixels_out_of_a_picture_of_the_fitted_size) {
  for (const int bits : {8, 16}) {
    const Image image =
        random_image({.width_px = 13, .height_px = 13, .bits = bits, .max_value = bits == 8 ? 255U : 65535U}, 16);
    Preprocess preprocess = unit(8);
    preprocess.resize_px = 13;
    for (std::int64_t choice = 0; choice < 6; ++choice) {
      for (const bool flip : {false, true}) {
        const double place = (static_cast<double>(choice) + 1.0) / 6.0;
        const AugmentDraw draw{.flip = flip, .cut_x = place, .cut_y = 1.0};
        const std::vector<float> out = transform(image, preprocess, &draw);
        for (std::int64_t i = 0; i < 64; ++i) {
          const std::int64_t x = choice + (flip ? 7 - i % 8 : i % 8);
          ASSERT_NEAR(out[static_cast<std::size_t>(i)], level_at(image, x, 5 + i / 8, 0) / image.layout().max_value,
                      kRounding);
        }
      }
    }
    const std::vector<float> middle = transform(image, preprocess);
    EXPECT_NEAR(middle[0], level_at(image, 2, 2, 0) / image.layout().max_value, kRounding) << "5 / 2, rounded down";
  }
}

// The path without a resize must be bit-identical to the resizing path. Pictures with three equal colours take the
// resizing path.
TEST(Transform, of_whole_pixels_has_the_bits_of_a_resize) {
  const Image gray = random_image({.width_px = 40, .height_px = 30}, 17);
  const Image rgb = make_image({.width_px = 40, .height_px = 30, .channels = 3},
                               [&](auto x, auto y, auto) { return level_at(gray, x, y, 0); });
  const Preprocess preprocess = [] {
    Preprocess cut = with_channels(preset("imagenet"), 3);
    cut.size_px = 33;
    cut.resize_px = 40;
    cut.fit = Fit::Pad;
    return cut;
  }();
  for (const bool flip : {false, true}) {
    const AugmentDraw draw{.flip = flip, .brightness = 0.1, .contrast = 1.2, .cut_x = 0.3, .cut_y = 0.1};
    EXPECT_EQ(transform(gray, preprocess, &draw), transform(rgb, preprocess, &draw));
  }
}

TEST(Transform, pad_puts_black_around) {
  const Image image = make_image({.width_px = 20, .height_px = 10}, [](auto, auto, auto) { return 200.0; });
  const auto out = transform_to<std::uint8_t>(image, unit(20, Fit::Pad), DType::U8);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool inside = i / 20 >= 5 && i / 20 < 15;
    ASSERT_EQ(out[i], inside ? 200 : 0) << i;
  }
}

TEST(Transform, mirrors_where_flip_was_drawn) {
  const Image image = random_image({.width_px = 50, .height_px = 40}, 7);
  const Image mirrored = make_image({.width_px = 50, .height_px = 40},
                                    [&](auto x, auto y, auto) { return level_at(image, 49 - x, y, 0); });
  const AugmentDraw flip{.flip = true};
  EXPECT_LE(largest_difference(transform(image, unit(16), &flip), transform(mirrored, unit(16))), kRounding);
  EXPECT_LE(largest_difference(transform(mirrored, unit(16), &flip), transform(image, unit(16))), kRounding);
}

TEST(Transform, of_the_identity_draw_is_the_plain_one) {
  const Image image = random_image({.width_px = 50, .height_px = 40}, 8);
  const AugmentDraw identity;
  for (const Fit fit : {Fit::Squash, Fit::Crop, Fit::Pad}) {
    EXPECT_EQ(transform(image, unit(16, fit), &identity), transform(image, unit(16, fit)));
  }
}

// Compares the rotating path with the direct path. With a tiny angle, its bilinear samples nearly coincide with pixels.
TEST(Transform, turned_by_next_to_nothing_is_the_plain_one) {
  const Image image = random_image({.width_px = 50, .height_px = 40}, 9);
  const AugmentDraw turned{.rotate_rad = 1e-9, .zoom = 1.3, .flip = true};
  const AugmentDraw plain{.zoom = 1.3, .flip = true};
  for (const std::int64_t size : {15, 16}) {
    EXPECT_LE(largest_difference(transform(image, unit(size), &turned), transform(image, unit(size), &plain)),
              kRounding);
  }
}

TEST(Transform, turns_counter_clockwise) {
  // White in the right quarter; a rotation by 90 degrees moves it to the top.
  const Image image =
      make_image({.width_px = 64, .height_px = 64}, [](auto x, auto, auto) { return x >= 48 ? 255.0 : 0.0; });
  const AugmentDraw quarter{.rotate_rad = std::numbers::pi / 2.0};
  const std::vector<float> out = transform(image, unit(16), &quarter);
  EXPECT_NEAR(out[1 * 16 + 8], 1.0, 1e-5);
  EXPECT_NEAR(out[8 * 16 + 14], 0.0, 1e-5);
  EXPECT_NEAR(out[14 * 16 + 8], 0.0, 1e-5);
}

TEST(Transform, shears_the_top_to_the_right) {
  // A white column in the middle; at shear 0.5 it moves right by one pixel for every two above the centre.
  const Image image =
      make_image({.width_px = 33, .height_px = 33}, [](auto x, auto, auto) { return x == 16 ? 255.0 : 0.0; });
  const AugmentDraw shear{.shear = 0.5};
  const std::vector<float> out = transform(image, unit(33), &shear);
  for (std::int64_t y = 4; y < 30; y += 2) EXPECT_NEAR(out[static_cast<std::size_t>(33 * y + 24 - y / 2)], 1.0, 1e-5);
}

TEST(Transform, shifts_right_and_down) {
  const Image image = make_image({.width_px = 16, .height_px = 16},
                                 [](auto x, auto y, auto) { return x == 4 && y == 6 ? 255.0 : 0.0; });
  const AugmentDraw shift{.shift_x = 0.25, .shift_y = 0.125};
  const std::vector<float> out = transform(image, unit(16), &shift);
  EXPECT_NEAR(out[8 * 16 + 8], 1.0, kRounding);
}

TEST(Transform, magnifies_about_the_middle) {
  const Image image = make_image({.width_px = 16, .height_px = 16}, [](auto x, auto y, auto) {
    return x >= 4 && x < 12 && y >= 4 && y < 12 ? 255.0 : 0.0;
  });
  const AugmentDraw zoom{.zoom = 2.0};
  const std::vector<float> out = transform(image, unit(8), &zoom);
  for (const float v : out) EXPECT_NEAR(v, 1.0, kRounding);
}

// Uses a smooth picture, so that values show positions rather than the effect of the filter.
TEST(Transform, shows_the_places_that_the_definition_says) {
  const auto smooth = [](double x, double y) { return 128.0 + 60.0 * std::sin(x / 30.0) + 50.0 * std::cos(y / 25.0); };
  const Image image = make_image(
      {.width_px = 256, .height_px = 200, .bits = 16, .max_value = 255},
      [&](auto x, auto y, auto) { return smooth(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5); });
  const AugmentDraw draw{.rotate_rad = 0.3,
                         .shift_x = 0.04,
                         .shift_y = -0.06,
                         .zoom = 1.1,
                         .crop_width = 0.8,
                         .crop_height = 0.7,
                         .crop_x = 0.45,
                         .crop_y = 0.55,
                         .flip = true};
  for (const Fit fit : {Fit::Squash, Fit::Crop, Fit::Pad}) {
    const Preprocess preprocess = unit(64, fit);
    const std::vector<float> out = transform(image, preprocess, &draw);
    const NaiveTransform naive(image, preprocess, draw);
    int inside = 0;
    for (std::int64_t i = 0; i < 64 * 64; ++i) {
      const auto [x, y] = naive.place(static_cast<double>(i % 64), static_cast<double>(i / 64));
      if (x < 8 || x > 248 || y < 8 || y > 192) continue;
      ++inside;
      // Tolerance: levels are rounded (0.5 before averaging), and the filter slightly flattens a wave of radius 25.
      ASSERT_NEAR(255.0 * out[static_cast<std::size_t>(i)], smooth(x, y), 0.6) << i;
    }
    EXPECT_GT(inside, 2000);
  }
}

TEST(Transform, keeps_brightness_and_contrast_within_black_and_white) {
  const Image image =
      make_image({.width_px = 3, .height_px = 3}, [](auto x, auto, auto) { return 127.5 * static_cast<double>(x); });
  const AugmentDraw draw{.brightness = 0.1, .contrast = 1.5};
  const std::vector<float> out = transform(image, unit(3), &draw);
  EXPECT_FLOAT_EQ(out[0], 0.0F);
  EXPECT_NEAR(out[1], (128.0 / 255.0 - 0.5) * 1.5 + 0.6, kRounding);
  EXPECT_FLOAT_EQ(out[2], 1.0F);
}

TEST(Transform, does_not_depend_on_what_was_done_before) {
  const AugmentDraw draw{.rotate_rad = 0.2, .zoom = 1.1};
  const Image big = random_image({.width_px = 150, .height_px = 130, .channels = 3}, 10);
  const Image small = random_image({.width_px = 40, .height_px = 30}, 11);
  const std::vector<float> fresh = transform(small, unit(16), &draw);
  Transformer used;
  std::vector<float> out(3 * 64 * 64);
  used.apply(big, unit(64, Fit::Pad, 3), &draw, {std::as_writable_bytes(std::span(out)), DType::F32});
  std::vector<float> again(16 * 16);
  used.apply(small, unit(16), &draw, {std::as_writable_bytes(std::span(again)), DType::F32});
  EXPECT_EQ(again, fresh);
}

TEST(Transform, writes_nothing_beside_its_slot) {
  const Image image = random_image({.width_px = 40, .height_px = 30, .channels = 3}, 12);
  const Preprocess preprocess = unit(15, Fit::Crop, 3);
  for (const DType dtype : {DType::F32, DType::U8, DType::U16}) {
    const std::size_t bytes = slot_bytes(preprocess, dtype);
    std::vector<std::byte> memory(bytes + 128, std::byte{0xA5});
    Transformer{}.apply(image, preprocess, nullptr, {std::span(memory).subspan(64, bytes), dtype});
    for (std::size_t i = 0; i < 64; ++i) {
      ASSERT_EQ(memory[i], std::byte{0xA5});
      ASSERT_EQ(memory[64 + bytes + i], std::byte{0xA5});
    }
  }
}

TEST(Transform, refuses_a_slot_of_another_size) {
  const Image image = random_image({.width_px = 4, .height_px = 4}, 13);
  std::vector<std::byte> memory(10);
  try {
    Transformer{}.apply(image, unit(4), nullptr, {memory, DType::F32});
    FAIL() << "no error";
  } catch (const ShapeError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("expected 64 bytes for 4x4 gray"));
  }
}

TEST(Transform, copes_with_extreme_shapes) {
  const Image wide = random_image({.width_px = 5000, .height_px = 1}, 14);
  const Image tall = random_image({.width_px = 1, .height_px = 5000}, 15);
  for (const Fit fit : {Fit::Squash, Fit::Crop, Fit::Pad}) {
    for (const Image* image : {&wide, &tall}) {
      const AugmentDraw draw{.rotate_rad = 3.0, .shift_x = 1.0, .zoom = 0.1};
      for (const float v : transform(*image, unit(9, fit), &draw)) ASSERT_TRUE(v >= 0.0F && v <= 1.0F);
    }
  }
}

}  // namespace
}  // namespace roentgen::data
