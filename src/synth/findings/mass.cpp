// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
// Mass: a solid lump over 30 mm across, lobulated, with a sharp edge.
#include "core/portable_math.h"
#include "synth/finding.h"
#include "synth/findings/opacity.h"

namespace roentgen::synth {

Painter plant_mass(Chest&, Plan plan) {
  return [plan](Canvas& canvas, const Chest& chest) mutable {
    Random& random = plan.random;
    const double s = plan.severity;
    const Lung& lung = chest.lung(either_side(random));
    const double across = random.uniform(-0.4, 0.75);
    const Point at = lung.at(across, random.uniform(0.22, 0.85));
    const double radius_mm = between(s, 18.0, 36.0) * random.uniform(0.92, 1.1);
    const double dense = between(s, 1.3, 1.6);  // density relative to water
    const int lobes = 2 + static_cast<int>(random.below(2));
    canvas.add_finding(canvas.planes.fill,
                       Ellipsoid{.center = at,
                                 .along_mm = radius_mm,
                                 .across_mm = 0.9 * radius_mm,
                                 .depth_mm = 1.1 * radius_mm,
                                 .angle_rad = random.uniform(0.0, 3.1)},
                       dense);
    for (int i = 0; i < lobes; ++i) {
      const double angle_rad = random.uniform(0.0, 6.28);
      const double lobe_mm = radius_mm * random.uniform(0.45, 0.65);
      const Point center{at.x_mm + 0.65 * radius_mm * portable_cos(angle_rad),
                         at.y_mm + 0.65 * radius_mm * portable_sin(angle_rad)};
      canvas.add_finding(
          canvas.planes.fill,
          Ellipsoid{.center = center, .along_mm = lobe_mm, .across_mm = lobe_mm, .depth_mm = 0.6 * lobe_mm}, dense);
    }
  };
}

}  // namespace roentgen::synth
