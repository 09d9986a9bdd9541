// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/anatomy.h"

#include "core/portable_math.h"

namespace roentgen::synth {
namespace {
// Subtracts a solid organ's path length from the aerated lung, because the organ contains no air.
void displace(Canvas& canvas, const Ellipsoid& organ) {
  auto& air = canvas.planes.air;
  canvas.for_each(organ, [&](std::size_t index, float, float chord, float, float) {
    air[index] = std::max(0.0F, air[index] - chord);
  });
}

void lay_lung(Canvas& canvas, const Chest& chest, const Lung& lung) {
  const auto cx = static_cast<float>(lung.center.x_mm), cy = static_cast<float>(lung.center.y_mm);
  const auto lean = static_cast<float>(lung.side * lung.lean);
  const auto per_a = static_cast<float>(1.0 / lung.half_width_mm),
             per_b = static_cast<float>(1.0 / lung.half_height_mm);
  const auto full = static_cast<float>(2.0 * lung.half_depth_mm);
  const auto rise = static_cast<float>(std::max(1.0, lung.dome_rise_mm));
  const auto dome_cy = static_cast<float>(lung.dome_y_mm) + rise;
  const auto per_dome = static_cast<float>(1.0 / (kDomeSpread * lung.half_width_mm));
  const auto dome_full = static_cast<float>(2.2 * lung.half_depth_mm);
  const auto density = static_cast<float>(lung.density);
  const auto mottle = static_cast<float>(chest.mottle * lung.density);
  const Texture coarse(chest.texture_seed, 19.0);
  const Texture fine(chest.texture_seed ^ 0x5bd1e995, 7.5);
  auto& planes = canvas.planes;
  canvas.for_each(area_of(lung), [&](std::size_t index, float x, float y) {
    const float v = (y - cy) * per_b;
    const float u = (x - cx + lean * std::max(0.0F, cy - y)) * per_a;
    const float q = u * u + v * v;
    if (q >= 1.0F) return;
    const float dome_u = (x - cx) * per_dome;
    const float dome_v = std::min(0.0F, y - dome_cy) / rise;
    const float dome_q = dome_u * dome_u + dome_v * dome_v;
    const float dome = dome_q < 1.0F ? dome_full * std::sqrt(1.0F - dome_q) : 0.0F;
    planes.air[index] = std::max(0.0F, full * std::sqrt(1.0F - q) - dome);
    planes.density[index] = density + mottle * (0.6F * coarse.at(x, y) + 0.4F * fine.at(x, y));
  });
}

void lay_mediastinum(Canvas& canvas, const Chest& chest) {
  const double m = chest.mediastinum_mm;
  displace(canvas, heart_shape(chest));
  displace(canvas, {.center = {0.0, -70.0}, .along_mm = m, .across_mm = 80.0, .depth_mm = 55.0});  // great vessels
  // Lower mediastinum
  displace(canvas, {.center = {0.0, 40.0}, .along_mm = 0.9 * m, .across_mm = 130.0, .depth_mm = 60.0});
  displace(canvas, {.center = {m - 4.0, -58.0},
                    .along_mm = chest.aorta_mm,
                    .across_mm = 1.15 * chest.aorta_mm,
                    .depth_mm = 1.8 * chest.aorta_mm});  // aortic arch
  displace(canvas, {.center = {m - 8.0, 30.0},
                    .along_mm = 0.85 * chest.aorta_mm,
                    .across_mm = 120.0,
                    .depth_mm = chest.aorta_mm});  // descending aorta
  for (const Lung& lung : chest.lungs) {
    const Point at = hilum(chest, lung);
    displace(canvas,
             {.center = at, .along_mm = 12.0, .across_mm = 22.0, .depth_mm = 16.0, .angle_rad = 0.3 * lung.side});
  }
}
}  // namespace

Rect area_of(const Lung& lung) {
  const double lean_mm = lung.lean * lung.half_height_mm;
  return {lung.center.x_mm - lung.half_width_mm - lean_mm, lung.top_mm(),
          lung.center.x_mm + lung.half_width_mm + lean_mm, lung.center.y_mm + lung.half_height_mm};
}

Point hilum(const Chest& chest, const Lung& lung) {
  return {lung.side * (chest.mediastinum_mm + 9.0), lung.side > 0.0 ? -20.0 : -12.0};
}

Ellipsoid heart_shape(const Chest& chest) {
  const Heart& heart = chest.heart;
  const double c = portable_cos(heart.tilt_rad);
  const double s = portable_sin(heart.tilt_rad);
  const double half_mm = heart.cardiothoracic_ratio * chest.half_width_mm;
  const double along_mm = half_mm / std::sqrt(c * c + heart.roundness * heart.roundness * s * s);
  return {.center = heart.center,
          .along_mm = along_mm,
          .across_mm = heart.roundness * along_mm,
          .depth_mm = heart.half_depth_mm,
          .angle_rad = heart.tilt_rad};
}

void lay_lungs(Canvas& canvas, const Chest& chest) {
  for (const Lung& lung : chest.lungs) lay_lung(canvas, chest, lung);
  lay_mediastinum(canvas, chest);
}

void lay_body(Canvas& canvas, const Chest& chest) {
  const auto half = static_cast<float>(chest.half_width_mm + chest.wall_mm);
  const auto thick = static_cast<float>(2.0 * chest.half_thickness_mm);
  const auto neck = static_cast<float>(46.0 + 0.4 * chest.wall_mm);
  const auto shoulder = static_cast<float>(chest.clavicle_y_mm - 58.0);
  auto& body = canvas.planes.body;
  canvas.for_each(Rect{-400.0, -400.0, 400.0, 400.0}, [&](std::size_t index, float x, float y) {
    const float u = x / half;
    const float w = u * u;
    const float side = std::max(0.0F, 1.0F - w * w);
    // Shape of the shoulders: the outline falls sideways from the neck, and the tissue becomes thinner towards the top.
    const float slope_y = shoulder + 0.36F * std::fabs(x);
    const float top = smooth_step((y - slope_y + 14.0F) / 40.0F);
    const float torso = thick * std::sqrt(side) * top;
    const float girdle_u = x / (half + 62.0F);
    const float girdle_v = (y + 60.0F) / 105.0F;
    const float girdle_q = girdle_u * girdle_u * girdle_u * girdle_u + girdle_v * girdle_v;
    const float girdle = girdle_q < 1.0F ? 0.75F * thick * std::sqrt(1.0F - girdle_q) * top : 0.0F;
    const float neck_u = x / neck;
    const float neck_chord = neck_u * neck_u < 1.0F && y < 0.0F ? 125.0F * std::sqrt(1.0F - neck_u * neck_u) : 0.0F;
    body[index] = std::max(std::max(torso, girdle), neck_chord);
  });
  if (chest.breast_mm > 4.0) {
    for (const double side : {-1.0, 1.0}) {
      canvas.add(canvas.planes.soft, {.center = {side * 0.56 * chest.half_width_mm, 62.0 + 0.5 * chest.breast_mm},
                                      .along_mm = 0.46 * chest.half_width_mm,
                                      .across_mm = 38.0 + 0.6 * chest.breast_mm,
                                      .depth_mm = 0.5 * chest.breast_mm});
    }
  }
  const Tube trachea{.from = {1.0, -175.0}, .to = {3.0, -42.0}, .radius_from_mm = 8.5, .radius_to_mm = 8.5};
  canvas.add(canvas.planes.gas, trachea);
  for (const double side : {-1.0, 1.0}) {
    canvas.add(canvas.planes.gas,
               {.from = {3.0, -42.0}, .to = {side * 30.0, -14.0}, .radius_from_mm = 7.0, .radius_to_mm = 5.0});
  }
  if (chest.stomach_gas_mm > 0.0) {
    const Lung& left = chest.lung(1);
    canvas.add(canvas.planes.gas,
               {.center = {left.center.x_mm - 8.0, left.dome_y_mm + 8.0 + 0.7 * chest.stomach_gas_mm},
                .along_mm = 1.3 * chest.stomach_gas_mm,
                .across_mm = 0.7 * chest.stomach_gas_mm,
                .depth_mm = chest.stomach_gas_mm});
  }
}

void lay_chest(Canvas& canvas, const Chest& chest) {
  lay_body(canvas, chest);
  lay_lungs(canvas, chest);
  lay_vessels(canvas, chest);
  lay_skeleton(canvas, chest);
}

}  // namespace roentgen::synth
