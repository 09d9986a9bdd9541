// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
// Hernia: a part of the stomach that has slipped through the diaphragm. Drawn as a round mass behind the heart with gas
// above fluid.
#include "synth/finding.h"
#include "synth/findings/opacity.h"

namespace roentgen::synth {

Painter plant_hernia(Chest&, Plan plan) {
  return [plan](Canvas& canvas, const Chest& chest) mutable {
    Random& random = plan.random;
    const double s = plan.severity;
    const double radius_mm = between(s, 25.0, 45.0) * random.uniform(0.9, 1.1);
    const double floor_mm = std::min(chest.lung(0).dome_y_mm, chest.lung(1).dome_y_mm);
    const Point at{random.uniform(-16.0, 24.0), floor_mm + 6.0 - 0.8 * radius_mm};
    const double level = random.uniform(-0.25, 0.25);  // height of the fluid level, in radii from the middle
    const auto surface = static_cast<float>(at.y_mm + level * radius_mm);
    auto& planes = canvas.planes;
    const Ellipsoid sac{.center = at, .along_mm = 1.1 * radius_mm, .across_mm = radius_mm, .depth_mm = 0.8 * radius_mm};
    canvas.add_finding(planes.soft, sac, 0.55);
    const Ellipsoid inside{
        .center = at, .along_mm = 0.98 * radius_mm, .across_mm = 0.88 * radius_mm, .depth_mm = 0.75 * radius_mm};
    const auto gas = static_cast<float>(between(s, 1.0, 1.5));
    canvas.for_each(inside, [&](std::size_t index, float, float chord, float, float y) {
      planes.gas[index] += gas * chord * smooth_step((surface - y) * 0.4F + 0.5F);
    });
    canvas.for_each(sac, [&](std::size_t index, float, float chord, float, float) {
      planes.air[index] = std::max(0.0F, planes.air[index] - chord);
    });
  };
}

}  // namespace roentgen::synth
