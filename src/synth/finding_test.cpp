// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that each finding matches its medical meaning, by geometry and path lengths instead of pixels.
#include "synth/finding.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "synth/anatomy.h"
#include "synth/exposure.h"
#include "synth/mask.h"
#include "synth/study.h"

namespace roentgen::synth {
namespace {
constexpr std::int64_t kSize = 160;
constexpr std::array kSeverities{0.15, 0.5, 1.0};

StudyKey study_of(std::int64_t patient) { return {.seed = 91, .patient = patient, .follow_up = 0}; }

Scene only(Finding finding, double severity) {
  Scene scene;
  scene.severity[static_cast<std::size_t>(finding)] = severity;
  return scene;
}

std::size_t at(Finding finding) { return static_cast<std::size_t>(finding); }

double shadow_width_mm(const Chest& chest) {
  const Ellipsoid heart = heart_shape(chest);
  const double c = std::cos(heart.angle_rad), s = std::sin(heart.angle_rad);
  return 2.0 * std::sqrt(heart.along_mm * heart.along_mm * c * c + heart.across_mm * heart.across_mm * s * s);
}

TEST(Cardiomegaly, heart_is_wider_than_half_the_inner_thorax) {
  for (std::int64_t patient = 1; patient <= 20; ++patient) {
    double before = 0.0;
    for (const double severity : kSeverities) {
      const Chest chest = lay_study(study_of(patient), 16, only(Finding::Cardiomegaly, severity)).chest;
      const double ratio = shadow_width_mm(chest) / (2.0 * chest.half_width_mm);
      EXPECT_GT(ratio, 0.5);
      EXPECT_GE(ratio, before);
      before = ratio;
    }
  }
}

TEST(Emphysema, diaphragms_are_low_and_flat_and_lungs_thin) {
  for (std::int64_t patient = 1; patient <= 20; ++patient) {
    const Chest healthy = draw_chest(study_of(patient));
    const Chest ill = lay_study(study_of(patient), 16, only(Finding::Emphysema, 0.15)).chest;
    for (int side = 0; side < 2; ++side) {
      EXPECT_GT(ill.lung(side).dome_y_mm, healthy.lung(side).dome_y_mm + 5.0);
      EXPECT_LT(ill.lung(side).dome_rise_mm, 0.6 * healthy.lung(side).dome_rise_mm);
      EXPECT_LT(ill.lung(side).density, 0.85 * healthy.lung(side).density);
      EXPECT_LT(ill.lung(side).vessels, healthy.lung(side).vessels);
    }
    EXPECT_LT(ill.heart.cardiothoracic_ratio, healthy.heart.cardiothoracic_ratio);
  }
}

TEST(Effusion, volume_grows_with_severity) {
  for (std::int64_t patient = 1; patient <= 6; ++patient) {
    double before = 0.0;
    for (const double severity : kSeverities) {
      const LaidStudy laid = lay_study(study_of(patient), kSize, only(Finding::Effusion, severity));
      double volume = 0.0;
      for (const float fluid : laid.canvas.planes.fill) volume += static_cast<double>(fluid);
      EXPECT_GT(volume, 1.3 * before);
      before = volume;
    }
  }
}

// The fluid's surface is higher at the chest wall than in the middle of the lung (meniscus).
TEST(Effusion, climbs_the_chest_wall) {
  for (std::int64_t patient = 1; patient <= 12; ++patient) {
    LaidStudy laid = lay_study(study_of(patient), kSize, only(Finding::Effusion, 0.9));
    const auto& planes = laid.canvas.planes;
    for (const Lung& lung : laid.chest.lungs) {
      double middle = 1e9, wall = 1e9;  // height of the surface; y points down
      laid.canvas.for_each(area_of(lung), [&](std::size_t px, float x, float y) {
        if (planes.fill[px] <= 0.5F * planes.air[px] || planes.air[px] <= 0.0F) return;
        const double u = lung.side * (static_cast<double>(x) - lung.center.x_mm) / lung.half_width_mm;
        if (std::fabs(u) < 0.15) middle = std::min(middle, static_cast<double>(y));
        if (u > 0.75) wall = std::min(wall, static_cast<double>(y));
      });
      if (wall > 1e8) continue;  // no fluid on this side
      EXPECT_LT(wall, middle - 5.0) << patient;
    }
  }
}

TEST(Pneumothorax, has_no_vessels_and_hardly_any_tissue_beyond_a_fine_line) {
  for (std::int64_t patient = 1; patient <= 12; ++patient) {
    const LaidStudy laid = lay_study(study_of(patient), kSize, only(Finding::Pneumothorax, 0.8));
    const LaidStudy healthy = lay_study(study_of(patient), kSize, {});
    const Planes &ill = laid.canvas.planes, &well = healthy.canvas.planes;
    std::int64_t beyond = 0, with_vessels = 0;
    double line = 0.0;
    for (std::size_t px = 0; px < ill.air.size(); ++px) {
      line = std::max(line, static_cast<double>(ill.fill[px]));
      if (ill.air[px] <= 0.0F || ill.density[px] > 0.13F * well.density[px]) continue;
      ++beyond;
      with_vessels += well.vessel[px] > 0.0F && ill.vessel[px] > 0.5F * well.vessel[px] ? 1 : 0;
    }
    EXPECT_GT(beyond, 300);
    EXPECT_EQ(with_vessels, 0);
    EXPECT_GT(line, 2.0);  // mm of tissue on the ray along the edge of the lung
  }
}

/// Returns the widths and heights of the connected painted areas, in mm.
std::vector<double> extents_mm(const Canvas& canvas) {
  const std::int64_t size = canvas.size_px();
  std::vector<bool> is_open(canvas.planes.fill.size());
  for (std::size_t px = 0; px < is_open.size(); ++px) is_open[px] = canvas.planes.fill[px] > 0.0F;
  std::vector<double> extents;
  for (std::size_t start = 0; start < is_open.size(); ++start) {
    if (!is_open[start]) continue;
    PixelRect box{size, size, 0, 0};
    std::vector<std::size_t> todo{start};
    is_open[start] = false;
    while (!todo.empty()) {
      const auto px = static_cast<std::int64_t>(todo.back());
      todo.pop_back();
      const std::int64_t row = px / size, column = px % size;
      box = {std::min(box.left, column), std::min(box.top, row), std::max(box.right, column + 1),
             std::max(box.bottom, row + 1)};
      for (const std::int64_t next : {px - 1, px + 1, px - size, px + size}) {
        if (next < 0 || next >= size * size || !is_open[static_cast<std::size_t>(next)]) continue;
        is_open[static_cast<std::size_t>(next)] = false;
        todo.push_back(static_cast<std::size_t>(next));
      }
    }
    extents.push_back(canvas.pixel_mm() * static_cast<double>(std::max(box.right - box.left, box.bottom - box.top)));
  }
  return extents;
}

TEST(Nodule, is_under_30_mm_and_a_mass_over) {
  int lone = 0;
  for (std::int64_t patient = 1; patient <= 60; ++patient) {
    const LaidStudy mass = lay_study(study_of(patient), kSize, only(Finding::Mass, 0.15));
    for (const double extent : extents_mm(mass.canvas)) EXPECT_GE(extent, 30.0) << patient;
    const LaidStudy nodules = lay_study(study_of(patient), kSize, only(Finding::Nodule, 1.0));
    const auto extents = extents_mm(nodules.canvas);
    if (extents.size() < 4) continue;  // two nodules may touch
    ++lone;
    // Allows half a pixel on each side, and 4% where the pose stretches the image.
    for (const double extent : extents) EXPECT_LT(extent, 30.0 * 1.04 + nodules.canvas.pixel_mm()) << patient;
  }
  EXPECT_GT(lone, 4);
}

/// Returns the mean change of the line integral over the rays that the finding changes.
double contrast(Finding finding, double severity) {
  double sum = 0.0;
  std::int64_t count = 0;
  for (std::int64_t patient = 1; patient <= 30; ++patient) {
    const Scene scene = only(finding, severity);
    const auto masks = masks_of(study_of(patient), kSize, scene);
    if (masks[at(finding)].empty()) continue;
    const auto with = line_integrals(lay_study(study_of(patient), kSize, scene).canvas.planes);
    const auto without = line_integrals(lay_study(study_of(patient), kSize, scene, finding).canvas.planes);
    for (std::size_t px = 0; px < with.size(); ++px) {
      if (masks[at(finding)][px] == 0) continue;
      sum += static_cast<double>(with[px] - without[px]);
      ++count;
    }
  }
  return sum / static_cast<double>(count);
}

// Contrast of the fluid must decrease from consolidation (even and dense) over pneumonia (patchy) to infiltration
// (faint).
TEST(Opacities, consolidation_pneumonia_and_infiltration_fall_in_contrast) {
  for (const double severity : {0.3, 0.6, 1.0}) {
    const double consolidation = contrast(Finding::Consolidation, severity);
    const double pneumonia = contrast(Finding::Pneumonia, severity);
    const double infiltration = contrast(Finding::Infiltration, severity);
    EXPECT_GT(consolidation, pneumonia) << severity;
    EXPECT_GT(pneumonia, infiltration) << severity;
    EXPECT_GT(infiltration, 0.0);
    if (severity != 0.6) continue;
    // Expected values as in docs/reference/synthetic.md.
    EXPECT_NEAR(consolidation, 0.58, 0.01);
    EXPECT_NEAR(pneumonia, 0.42, 0.01);
    EXPECT_NEAR(infiltration, 0.23, 0.01);
  }
}

}  // namespace
}  // namespace roentgen::synth
