// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares Transformer with a naive double-precision version on random pictures, definitions and draws.
#include <gtest/gtest.h>

#include "data/transform/transform_testing.h"

namespace roentgen::data {
namespace {

// Tolerance for float32: weights have a relative error of 6e-8, sums of up to 40 x 40 of them about 1e-6. Rotation adds
// one interpolation.
constexpr double kFloat32 = 4e-6;

ImageLayout draw_layout(Random& random) {
  ImageLayout layout;
  layout.width_px = 1 + static_cast<std::int64_t>(random.below(70));
  layout.height_px = 1 + static_cast<std::int64_t>(random.below(70));
  layout.channels = random.chance(0.3) ? 3 : 1;
  layout.bits = random.chance(0.3) ? 16 : 8;
  layout.max_value = layout.bits == 8 ? 255 : random.chance(0.5) ? 4095 : 65535;
  return layout;
}

Preprocess draw_preprocess(Random& random) {
  constexpr std::array kFits{Fit::Squash, Fit::Crop, Fit::Pad};
  const std::int64_t size_px = 1 + static_cast<std::int64_t>(random.below(20));
  Preprocess preprocess = unit(size_px, kFits.at(random.below(3)), random.chance(0.3) ? 3 : 1);
  preprocess.filter = random.chance(0.5) ? Filter::Triangle : Filter::Area;
  if (random.chance(0.3)) preprocess.resize_px = size_px + static_cast<std::int64_t>(random.below(6));
  return preprocess;
}

void compare(std::uint64_t round, const Augment& augment) {
  Random random(4242, RandomStage::Test, round);
  const ImageLayout layout = draw_layout(random);
  const Preprocess preprocess = draw_preprocess(random);
  const AugmentDraw drawn = draw(augment, random);
  const Image image = random_image(layout, round);
  const std::vector<float> expected = NaiveTransform(image, preprocess, drawn).all();
  EXPECT_LE(largest_difference(transform(image, preprocess, &drawn), expected), kFloat32)
      << "round " << round << ": " << layout.width_px << "x" << layout.height_px << "x" << layout.channels << " to "
      << preprocess.text() << ", turned by " << drawn.rotate_rad;
}

TEST(TransformReference, plain_pictures_agree) {
  for (std::uint64_t round = 0; round < 150; ++round) compare(round, {});
}

TEST(TransformReference, cropped_shifted_magnified_and_mirrored_pictures_agree) {
  const Augment augment{.translate = 0.3,
                        .scale = 0.5,
                        .crop_area_min = 0.1,
                        .crop_aspect_max = 1.5,
                        .flip_probability = 0.5,
                        .is_crop_random = true,
                        .brightness = 0.2,
                        .contrast = 0.5};
  for (std::uint64_t round = 0; round < 150; ++round) compare(round, augment);
}

TEST(TransformReference, turned_pictures_agree) {
  const Augment augment{
      .rotate_deg = 180.0, .translate = 0.2, .scale = 0.3, .crop_area_min = 0.5, .flip_probability = 0.5};
  for (std::uint64_t round = 0; round < 100; ++round) compare(round, augment);
}

TEST(TransformReference, sheared_pictures_agree) {
  const Augment augment{
      .rotate_deg = 20.0, .shear_deg = 40.0, .translate = 0.1, .crop_area_min = 0.5, .flip_probability = 0.5};
  for (std::uint64_t round = 0; round < 100; ++round) compare(round, augment);
}

}  // namespace
}  // namespace roentgen::data
