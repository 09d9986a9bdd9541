// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
// Effusion: fluid in the pleural space. It fills the base from below and climbs the chest wall: the meniscus.
#include "synth/anatomy.h"
#include "synth/finding.h"
#include "synth/findings/opacity.h"

namespace roentgen::synth {

Painter plant_effusion(Chest&, Plan plan) {
  Random& random = plan.random;
  const double s = plan.severity;
  const int side = either_side(random);
  // Height of the fluid above the rim of the diaphragm, mm
  const double depth_mm = between(s, 2.0, 70.0) * random.uniform(0.85, 1.15);
  const double climb_mm = random.uniform(26.0, 44.0);
  const double soft_mm = random.uniform(8.0, 16.0);
  return [=](Canvas& canvas, const Chest& chest) {
    const Lung& lung = chest.lung(side);
    const auto level =
        static_cast<float>(lung.dome_surface_mm(lung.center.x_mm + 0.9 * lung.side * lung.half_width_mm) - depth_mm);
    const auto climb = static_cast<float>(climb_mm);
    const auto per_soft = static_cast<float>(1.0 / soft_mm);
    const auto cx = static_cast<float>(lung.center.x_mm), sign = static_cast<float>(lung.side);
    const auto per_half = static_cast<float>(1.0 / lung.half_width_mm);
    auto& planes = canvas.planes;
    canvas.for_each(area_of(lung), [&](std::size_t index, float x, float y) {
      if (planes.air[index] <= 0.0F || x * sign < 0.0F) return;
      const float u = std::max(-1.0F, sign * (x - cx) * per_half);  // -1 at the medial edge, 1 at the lateral edge
      const float lateral = 0.5F * (u + 1.0F);
      const float surface = level + climb * (0.55F - lateral * lateral);
      const float share = smooth_step((y - surface) * per_soft + 0.5F);
      if (share <= 0.0F) return;
      planes.fill[index] += share * planes.air[index];
      if (share > 0.3F) canvas.touch(index);
    });
  };
}

}  // namespace roentgen::synth
