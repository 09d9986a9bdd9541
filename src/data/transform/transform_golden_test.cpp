// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the triangle filter with Pillow's BILINEAR in mode F, which does not round. Expected values:
// tests/golden/pillow_resize.csv, made by tools/peers/pillow_golden.py.
#include <gtest/gtest.h>

#include "data/transform/golden_testing.h"
#include "data/transform/kernels.h"
#include "data/transform/transform_testing.h"

namespace roentgen::data {
namespace {

// Tolerance on the scale 0 to 255. Pillow sums in double and stores float32 between its passes; our kernels sum in
// float32.
constexpr double kLevels = 1e-4;

Image formula_image(const GoldenResize& golden) {
  return make_image({.width_px = golden.width_px, .height_px = golden.height_px},
                    [](auto x, auto y, auto) { return static_cast<double>((13 * x + 29 * y + x * y) % 251); });
}

// Resizes any box to any size, which Transformer does not offer, with the same weights and kernels.
std::vector<float> resize(const Image& image, const GoldenResize& golden) {
  const auto axis = [](double low, double high, std::int64_t outputs, std::int64_t source) {
    return Axis{low, (high - low) / static_cast<double>(outputs), outputs, source};
  };
  Taps columns;
  Taps rows;
  columns.set(axis(golden.box[0], golden.box[2], golden.out_width_px, golden.width_px), Filter::Triangle);
  rows.set(axis(golden.box[1], golden.box[3], golden.out_height_px, golden.height_px), Filter::Triangle);
  std::vector<float> mixed(static_cast<std::size_t>(golden.width_px + columns.stride()));
  std::vector<float> out(static_cast<std::size_t>(golden.out_width_px * golden.out_height_px));
  for (std::int64_t y = 0; y < golden.out_height_px; ++y) {
    const auto offset = static_cast<std::size_t>(rows.first(y) * golden.width_px);
    mix_rows({image.samples<std::uint8_t>().subspan(offset), golden.width_px},
             rows.weights(y).first(static_cast<std::size_t>(rows.count(y))),
             std::span(mixed).first(static_cast<std::size_t>(golden.width_px)));
    mix_columns(mixed, columns,
                std::span(out).subspan(static_cast<std::size_t>(y * golden.out_width_px),
                                       static_cast<std::size_t>(golden.out_width_px)));
  }
  return out;
}

TEST(TransformGolden, filter_is_pillows) {
  const std::vector<GoldenResize> all = read_golden_resizes("case");
  EXPECT_EQ(all.size(), 8U);
  for (const GoldenResize& golden : all) {
    EXPECT_LE(largest_difference(resize(formula_image(golden), golden), golden.values), kLevels) << golden.name;
  }
}

TEST(TransformGolden, squash_and_crop_are_pillows) {
  int compared = 0;
  for (const GoldenResize& golden : read_golden_resizes("case")) {
    const bool is_middle = golden.name == "middle_square";
    if (golden.out_width_px != golden.out_height_px) continue;
    std::vector<float> out =
        transform(formula_image(golden), unit(golden.out_width_px, is_middle ? Fit::Crop : Fit::Squash));
    for (float& v : out) v *= 255.0F;
    EXPECT_LE(largest_difference(out, golden.values), kLevels) << golden.name;
    ++compared;
  }
  EXPECT_EQ(compared, 6);
}

}  // namespace
}  // namespace roentgen::data
