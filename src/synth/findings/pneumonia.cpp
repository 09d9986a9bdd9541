// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
// Pneumonia: one or two patchy, ill-defined shadows in one lung, with air left between the filled airspaces.
#include "synth/finding.h"
#include "synth/findings/opacity.h"

namespace roentgen::synth {

Painter plant_pneumonia(Chest&, Plan plan) {
  return [plan](Canvas& canvas, const Chest& chest) mutable {
    Random& random = plan.random;
    const double s = plan.severity;
    const Lung& lung = chest.lung(either_side(random));
    const int patches = 1 + static_cast<int>(random.below(2));
    const double down = random.uniform(0.3, 0.85);
    for (int i = 0; i < patches; ++i) {
      const double across = random.uniform(-0.5, 0.5);
      const Point at = lung.at(across, std::clamp(down + 0.22 * i, 0.25, 0.9));
      const double radius_mm = between(s, 25.0, 42.0) * random.uniform(0.85, 1.15);
      paint(canvas, {.shape = {.center = at,
                               .along_mm = radius_mm,
                               .across_mm = radius_mm * random.uniform(0.7, 1.0),
                               .depth_mm = 40.0,
                               .angle_rad = random.uniform(0.0, 3.1)},
                     .fluid_mm = between(s, 29.0, 55.0),
                     .patchy = 1.0,
                     .cell_mm = random.uniform(8.5, 11.5),
                     .seed = random.next_u64()});
    }
  };
}

}  // namespace roentgen::synth
