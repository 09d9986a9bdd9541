// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
// Nodule: one to four round solid spots up to 30 mm across.
#include "synth/finding.h"
#include "synth/findings/opacity.h"

namespace roentgen::synth {

Painter plant_nodule(Chest&, Plan plan) {
  return [plan](Canvas& canvas, const Chest& chest) mutable {
    Random& random = plan.random;
    const double s = plan.severity;
    const int count = (s > 0.45 ? 2 : 1) + static_cast<int>(random.below(3));
    for (int i = 0; i < count; ++i) {
      const Lung& lung = chest.lung(either_side(random));
      const double across = random.uniform(-0.35, 0.85);
      const Point at = lung.at(across, random.uniform(0.15, 0.9));
      // Diameter from 12 to 26 mm; from 30 mm on it would be a mass.
      const double radius_mm = between(s, 6.0, 11.5) * random.uniform(0.9, 1.12);
      // Calcified nodules are denser than water.
      canvas.add_finding(canvas.planes.fill,
                         Ellipsoid{.center = at, .along_mm = radius_mm, .across_mm = radius_mm, .depth_mm = radius_mm},
                         between(s, 1.2, 1.8));
    }
  };
}

}  // namespace roentgen::synth
