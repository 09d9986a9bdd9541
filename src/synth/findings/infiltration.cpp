// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
// Infiltration: faint, streaky shadows along the airways, several in one lung or in both.
#include "synth/anatomy.h"
#include "synth/finding.h"
#include "synth/findings/opacity.h"

namespace roentgen::synth {

Painter plant_infiltration(Chest&, Plan plan) {
  return [plan](Canvas& canvas, const Chest& chest) mutable {
    Random& random = plan.random;
    const double s = plan.severity;
    const int first_side = either_side(random);
    const bool both = random.chance(0.5);
    const int streaks = 4 + static_cast<int>(random.below(5));
    for (int i = 0; i < streaks; ++i) {
      const Lung& lung = chest.lung(both && i % 2 == 1 ? 1 - first_side : first_side);
      const double across = random.uniform(-0.5, 0.6);
      const Point at = lung.at(across, random.uniform(0.35, 0.9));
      const double length_mm = random.uniform(14.0, 26.0);
      // Direction of the streaks, along the airways: towards the hilum, with random variation.
      const double lean = (at.y_mm - hilum(chest, lung).y_mm) * 0.01;
      const double angle_rad = lung.side * lean + random.uniform(-0.3, 0.3);
      paint(canvas, {.shape = {.center = at,
                               .along_mm = length_mm,
                               .across_mm = 0.42 * length_mm,
                               .depth_mm = 20.0,
                               .angle_rad = angle_rad},
                     .fluid_mm = between(s, 14.0, 30.0) * random.uniform(0.8, 1.2),
                     .patchy = 0.6,
                     .cell_mm = 6.0,
                     .seed = random.next_u64()});
    }
  };
}

}  // namespace roentgen::synth
