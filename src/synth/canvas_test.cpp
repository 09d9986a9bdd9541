// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/canvas.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace roentgen::synth {
namespace {
constexpr double kPi = 3.14159265358979323846;
// Tolerance for sampling a shape at pixel centres: below 1% for shapes that are at least 20 pixels wide.
constexpr double kSampling = 0.01;

Pose straight() { return {.angle_rad = 0.0, .scale_x = 1.0, .scale_y = 1.0, .shift = {}, .field_mm = 200.0}; }

double volume_mm3(const Canvas& canvas, const std::vector<float>& plane) {
  const double area = canvas.pixel_mm() * canvas.pixel_mm();
  return area * std::accumulate(plane.begin(), plane.end(), 0.0);
}

TEST(Canvas, ellipsoid_has_its_volume) {
  Canvas canvas(200, straight());
  canvas.add(canvas.planes.fill,
             Ellipsoid{.center = {10.0, -5.0}, .along_mm = 40.0, .across_mm = 20.0, .depth_mm = 30.0});
  const double expected = 4.0 / 3.0 * kPi * 40.0 * 20.0 * 30.0;
  EXPECT_NEAR(volume_mm3(canvas, canvas.planes.fill), expected, kSampling * expected);
}

TEST(Canvas, turning_an_ellipsoid_keeps_its_volume) {
  Canvas canvas(200, straight());
  canvas.add(canvas.planes.fill, Ellipsoid{.along_mm = 40.0, .across_mm = 20.0, .depth_mm = 30.0, .angle_rad = 0.7});
  const double expected = 4.0 / 3.0 * kPi * 40.0 * 20.0 * 30.0;
  EXPECT_NEAR(volume_mm3(canvas, canvas.planes.fill), expected, kSampling * expected);
}

TEST(Canvas, tube_thinner_than_a_pixel_keeps_its_volume) {
  Canvas canvas(40, straight());  // pixels of 5 mm
  const Tube tube{.from = {-60.0, -20.0}, .to = {50.0, 33.0}, .radius_from_mm = 0.8, .radius_to_mm = 0.8};
  canvas.add(canvas.planes.vessel, tube);
  const double length = std::sqrt(110.0 * 110.0 + 53.0 * 53.0);
  const double expected = kPi * 0.8 * 0.8 * length;
  // Tolerance for a thin line on a coarse grid: its ends and its position relative to pixels change the volume by a few
  // percent.
  EXPECT_NEAR(volume_mm3(canvas, canvas.planes.vessel), expected, 0.06 * expected);
}

TEST(Canvas, links_of_a_chain_do_not_add_up_where_they_overlap) {
  Canvas canvas(200, straight());
  const Tube link{.from = {-30.0, 0.0}, .to = {30.0, 0.0}, .radius_from_mm = 6.0, .radius_to_mm = 6.0};
  canvas.add_chain(canvas.planes.bone, std::array{link, link});
  Canvas single(200, straight());
  single.add(single.planes.bone, link);
  EXPECT_EQ(canvas.planes.bone, single.planes.bone);
}

TEST(Canvas, pose_maps_the_chest_to_the_pixels_and_back) {
  Canvas canvas(100, {.angle_rad = 0.3, .scale_x = 1.1, .scale_y = 0.9, .shift = {12.0, -7.0}, .field_mm = 300.0});
  std::int64_t visited = 0;
  canvas.for_each(Rect{20.0, 30.0, 21.0, 31.0}, [&](std::size_t, float x, float y) {
    ++visited;
    EXPECT_NEAR(x, 20.5F, 8.0F);  // within two pixels of 3 mm
    EXPECT_NEAR(y, 30.5F, 8.0F);
  });
  EXPECT_GE(visited, 1);
  EXPECT_LE(visited, 9);
}

TEST(Canvas, pixels_outside_the_image_are_cut) {
  const Canvas canvas(50, straight());
  EXPECT_TRUE(canvas.pixels_of(Rect{500.0, 500.0, 600.0, 600.0}).empty());
  const PixelRect all = canvas.pixels_of(Rect{-900.0, -900.0, 900.0, 900.0});
  EXPECT_EQ(all.left, 0);
  EXPECT_EQ(all.bottom, 50);
}

TEST(Canvas, touched_box_is_the_smallest_and_is_taken_once) {
  Canvas canvas(50, straight());
  canvas.touch(std::size_t{10 * 50 + 7});
  canvas.touch(std::size_t{12 * 50 + 3});
  const PixelRect box = canvas.take_touched();
  EXPECT_EQ(box.left, 3);
  EXPECT_EQ(box.top, 10);
  EXPECT_EQ(box.right, 8);
  EXPECT_EQ(box.bottom, 13);
  EXPECT_TRUE(canvas.take_touched().empty());
}

TEST(Texture, is_smooth_bounded_and_a_function_of_its_seed) {
  const Texture texture(5, 10.0);
  const Texture same(5, 10.0);
  const Texture other(6, 10.0);
  double spread = 0.0, difference = 0.0;
  for (int i = 0; i < 1000; ++i) {
    const auto x = static_cast<float>(i) * 0.37F - 180.0F;
    const float value = texture.at(x, 3.0F);
    EXPECT_LE(std::fabs(value), 1.0F);
    EXPECT_EQ(value, same.at(x, 3.0F));
    // The steepest slope of the smooth step is 1.5 * 2 per cell of 10 mm.
    EXPECT_LE(std::fabs(texture.at(x + 0.1F, 3.0F) - value), 0.031F);
    spread += static_cast<double>(value * value);
    difference += static_cast<double>(std::fabs(value - other.at(x, 3.0F)));
  }
  EXPECT_GT(spread, 50.0);
  EXPECT_GT(difference, 50.0);
}

}  // namespace
}  // namespace roentgen::synth
