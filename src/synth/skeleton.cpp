// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Draws the bones. A rib is a tilted ring around the chest: its back half falls slowly from the spine, and its front
// half returns lower. At the flank it turns along the ray, so its path length grows, as on a radiograph.
#include <array>
#include <utility>

#include "core/portable_math.h"
#include "synth/anatomy.h"

namespace roentgen::synth {
namespace {
constexpr int kRibs = 10;
constexpr int kRibLinks = 8;  // links of each half of a rib

// Share of marrow inside a bone; the rest is mineral.
constexpr double kMarrow = 0.55;

void lay_rib(Canvas& canvas, const Chest& chest, int number, double side) {
  const Lung& lung = chest.lung(side < 0.0 ? 0 : 1);
  const double ring_y_mm = -84.0 + chest.rib_pitch_mm * number;
  const double reach = std::max(-0.97, std::min(0.97, (ring_y_mm - 18.0) / 165.0));
  const double half_x_mm = (chest.half_width_mm + 4.0) * std::sqrt(1.0 - reach * reach * (reach < 0.0 ? 1.0 : 0.35));
  const double half_z_mm = lung.half_depth_mm * (0.62 + 0.045 * std::min(number, 8));
  // Angles of a rib's ends: from the spine (0 is straight behind) to the costal cartilage in front.
  const double first_rad = 0.14, last_rad = number < 7 ? 2.45 : 2.05;
  const double middle_rad = 0.5 * 3.14159265358979323846;  // angle at the flank, between back and front half
  for (const auto& [from_rad, to_rad] : {std::pair{first_rad, middle_rad}, std::pair{middle_rad, last_rad}}) {
    std::array<Tube, kRibLinks> chain;
    Point last;
    double last_z_mm = 0.0;
    for (int step = 0; step <= kRibLinks; ++step) {
      const double angle_rad = from_rad + (to_rad - from_rad) * step / kRibLinks;
      const double z_mm = -half_z_mm * portable_cos(angle_rad);
      const Point at{side * half_x_mm * portable_sin(angle_rad), ring_y_mm + chest.rib_slope * z_mm};
      if (step > 0) {
        const double dx = at.x_mm - last.x_mm, dy = at.y_mm - last.y_mm, dz = z_mm - last_z_mm;
        const double flat = std::sqrt(dx * dx + dy * dy);
        const double stretch = std::min(1.8, std::sqrt(flat * flat + dz * dz) / std::max(flat, 1e-3));
        chain[static_cast<std::size_t>(step - 1)] = {
            .from = last, .to = at, .radius_from_mm = 5.2, .radius_to_mm = 5.2, .stretch = stretch, .hollow = kMarrow};
      }
      last = at;
      last_z_mm = z_mm;
    }
    canvas.add_chain(canvas.planes.bone, chain, 1.05 * chest.bone);
  }
}

void lay_spine(Canvas& canvas, const Chest& chest) {
  auto& bone = canvas.planes.bone;
  const auto bend = static_cast<float>(chest.spine_bend_mm);
  const auto depth = static_cast<float>(15.0 * chest.bone);
  canvas.for_each(Rect{-40.0, -220.0, 40.0, 230.0}, [&](std::size_t index, float x, float y) {
    const float bent = y / 120.0F;
    const float pitch = 22.0F + 0.03F * y;
    const float half = 14.0F + 0.035F * (y + 100.0F);
    const float u = (x - bend * bent * (1.0F - 0.3F * bent)) / std::max(10.0F, half);
    if (u * u >= 1.0F) return;
    const float turn = y / pitch;
    // 0.5 in the middle of a disc, 0 in the middle of a vertebra
    const float place = std::fabs(turn - std::floor(turn) - 0.5F);
    const float disc = 1.0F - 0.45F * smooth_step((place - 0.33F) / 0.1F);
    bone[index] += depth * std::sqrt(1.0F - u * u) * disc;
  });
}

void lay_shoulder(Canvas& canvas, const Chest& chest, double side) {
  const double y = chest.clavicle_y_mm;
  const double w = chest.half_width_mm;
  const std::array<Point, 6> clavicle{{{side * 16.0, y + 20.0},
                                       {side * 40.0, y + 11.0},
                                       {side * 70.0, y + 5.0},
                                       {side * 98.0, y - 3.0},
                                       {side * (w - 12.0), y - 8.0},
                                       {side * (w + 14.0), y - 7.0}}};
  std::array<Tube, clavicle.size() - 1> chain;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    chain[i] = {
        .from = clavicle[i], .to = clavicle[i + 1], .radius_from_mm = 6.0, .radius_to_mm = 6.0, .hollow = kMarrow};
  }
  canvas.add_chain(canvas.planes.bone, chain, 1.25 * chest.bone);
  // Position of the scapula: turned away from the lung in PA views, over the lung in AP views.
  const double out_mm = chest.view == View::Ap ? -4.0 : 16.0;
  canvas.add(canvas.planes.bone,
             {.center = {side * (w + out_mm), -50.0},
              .along_mm = 28.0,
              .across_mm = 68.0,
              .depth_mm = 3.0,
              .angle_rad = -0.18 * side},
             chest.bone);
  canvas.add(canvas.planes.bone,
             {.center = {side * (w + 40.0), y + 2.0}, .along_mm = 25.0, .across_mm = 25.0, .depth_mm = 16.0},
             0.7 * chest.bone);
  const Tube humerus{.from = {side * (w + 42.0), y + 10.0},
                     .to = {side * (w + 56.0), y + 130.0},
                     .radius_from_mm = 13.0,
                     .radius_to_mm = 11.0,
                     .hollow = kMarrow};
  canvas.add(canvas.planes.bone, humerus, 0.6 * chest.bone);
}
}  // namespace

void lay_skeleton(Canvas& canvas, const Chest& chest) {
  lay_spine(canvas, chest);
  for (const double side : {-1.0, 1.0}) {
    for (int number = 0; number < kRibs; ++number) lay_rib(canvas, chest, number, side);
    lay_shoulder(canvas, chest, side);
  }
}

}  // namespace roentgen::synth
