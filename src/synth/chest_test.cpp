// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/chest.h"

#include <gtest/gtest.h>

#include <cmath>

#include "synth/anatomy.h"

namespace roentgen::synth {
namespace {
constexpr std::uint64_t kSeed = 20;

TEST(Chest, follow_ups_keep_the_anatomy_and_change_the_pose) {
  const Chest first = draw_chest({.seed = kSeed, .patient = 4, .follow_up = 0});
  const Chest second = draw_chest({.seed = kSeed, .patient = 4, .follow_up = 1});
  EXPECT_EQ(first.sex, second.sex);
  EXPECT_EQ(first.half_width_mm, second.half_width_mm);
  EXPECT_EQ(first.vessel_seed, second.vessel_seed);
  EXPECT_NE(first.pose.shift.x_mm, second.pose.shift.x_mm);
  EXPECT_NE(first.exposure.black, second.exposure.black);
}

TEST(Chest, patients_and_seeds_differ) {
  const Chest one = draw_chest({.seed = kSeed, .patient = 1, .follow_up = 0});
  const Chest other = draw_chest({.seed = kSeed, .patient = 2, .follow_up = 0});
  const Chest reseeded = draw_chest({.seed = kSeed + 1, .patient = 1, .follow_up = 0});
  EXPECT_NE(one.half_width_mm, other.half_width_mm);
  EXPECT_NE(one.half_width_mm, reseeded.half_width_mm);
}

TEST(Chest, a_healthy_heart_is_rarely_wider_than_half_the_thorax) {
  int wide = 0;
  for (std::int64_t patient = 1; patient <= 1000; ++patient) {
    wide += draw_chest({.seed = kSeed, .patient = patient, .follow_up = 0}).heart.cardiothoracic_ratio > 0.5 ? 1 : 0;
  }
  EXPECT_LT(wide, 50);
}

TEST(Chest, heart_shadow_has_the_stated_width) {
  Chest chest = draw_chest({.seed = kSeed, .patient = 3, .follow_up = 0});
  chest.heart.cardiothoracic_ratio = 0.6;
  const Ellipsoid heart = heart_shape(chest);
  const double c = std::cos(heart.angle_rad), s = std::sin(heart.angle_rad);
  const double half_mm = std::sqrt(heart.along_mm * heart.along_mm * c * c + heart.across_mm * heart.across_mm * s * s);
  EXPECT_NEAR(half_mm / chest.half_width_mm, 0.6, 1e-9);
}

// The source is at 1 m in AP and at 1.8 m in PA. The heart is 138 mm from the detector's side in AP and 78 + 40 mm in
// PA, in a chest 216 mm thick:
//   (1000 / (1000 - 40 - 138.2)) / (1000 / (1000 - 148)) over (1800 / (1800 - 40 - 77.8)) / (1800 / (1800 - 148)).
TEST(Chest, heart_is_larger_in_ap_views_by_the_geometry_of_the_beam) {
  const auto relative = [](View view) {
    return magnification(view, kHeartDepth, 108.0) / magnification(view, 0.5, 108.0);
  };
  EXPECT_NEAR(relative(View::Ap), 852.0 / 821.76, 1e-9);
  EXPECT_NEAR(relative(View::Pa), 1652.0 / 1682.24, 1e-9);
  double sums[2] = {0.0, 0.0}, breath[2] = {0.0, 0.0}, counts[2] = {0.0, 0.0};
  for (std::int64_t patient = 1; patient <= 3000; ++patient) {
    const Chest chest = draw_chest({.seed = kSeed, .patient = patient, .follow_up = 0});
    const auto view = static_cast<std::size_t>(chest.view);
    const Ellipsoid heart = heart_shape(chest);
    const double c = std::cos(heart.angle_rad), s = std::sin(heart.angle_rad);
    sums[view] += std::sqrt(heart.along_mm * heart.along_mm * c * c + heart.across_mm * heart.across_mm * s * s) /
                  chest.half_width_mm;
    breath[view] += chest.lung(0).dome_y_mm;
    counts[view] += 1.0;
  }
  const auto ap = static_cast<std::size_t>(View::Ap), pa = static_cast<std::size_t>(View::Pa);
  EXPECT_NEAR(counts[ap] / 3000.0, kApShare, 0.03);
  const double factor = (sums[ap] / counts[ap]) / (sums[pa] / counts[pa]);
  // Tolerance: 4 standard errors of a ratio with a standard deviation of 6%.
  EXPECT_NEAR(factor, relative(View::Ap) / relative(View::Pa),
              4.0 * 0.06 * std::sqrt(1.0 / counts[ap] + 1.0 / counts[pa]));
  EXPECT_GT(factor, 1.04);
  EXPECT_GT(breath[pa] / counts[pa], breath[ap] / counts[ap] + 5.0);  // a shallower breath means a higher diaphragm
}

TEST(Chest, share_of_ap_views_is_as_asked) {
  for (std::int64_t patient = 1; patient <= 50; ++patient) {
    const StudyKey key{.seed = kSeed, .patient = patient, .follow_up = 0};
    EXPECT_EQ(draw_chest(key, 0.0).view, View::Pa);
    EXPECT_EQ(draw_chest(key, 1.0).view, View::Ap);
  }
}

TEST(Lung, places_lie_inside_the_outline_and_above_the_diaphragm) {
  const Chest chest = draw_chest({.seed = kSeed, .patient = 5, .follow_up = 0});
  for (const Lung& lung : chest.lungs) {
    for (const double across : {-0.9, 0.0, 0.9}) {
      for (const double down : {0.05, 0.5, 0.95}) {
        const Point at = lung.at(across, down);
        EXPECT_GT(at.y_mm, lung.top_mm());
        EXPECT_LT(at.y_mm, lung.dome_surface_mm(at.x_mm) + 1.0);  // two iterations of at() leave an error below 1 mm
        EXPECT_LE(std::fabs(at.x_mm - lung.middle_x_mm(at.y_mm)), lung.half_width_at_mm(at.y_mm));
      }
    }
  }
}

TEST(Lung, diaphragm_is_highest_in_the_middle) {
  const Lung lung;
  EXPECT_DOUBLE_EQ(lung.dome_surface_mm(lung.center.x_mm), lung.dome_y_mm);
  EXPECT_GT(lung.dome_surface_mm(lung.center.x_mm + 50.0), lung.dome_y_mm + 5.0);
}

}  // namespace
}  // namespace roentgen::synth
