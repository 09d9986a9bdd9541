// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
// Atelectasis: collapsed lung. Drawn as one to three plate-like bands in the lower half. The loss of volume raises the
// diaphragm on that side, and moves the heart towards it.
#include "synth/finding.h"
#include "synth/findings/opacity.h"

namespace roentgen::synth {

Painter plant_atelectasis(Chest& chest, Plan plan) {
  Random& random = plan.random;
  const double s = plan.severity;
  const int side = either_side(random);
  Lung& lung = chest.lung(side);
  lung.dome_y_mm -= between(s, 7.0, 24.0);
  chest.heart.center.x_mm += lung.side * between(s, 1.0, 5.0);
  const int bands = 1 + static_cast<int>(random.below(s > 0.5 ? 3 : 2));
  return [=](Canvas& canvas, const Chest& final_chest) mutable {
    const Lung& at = final_chest.lung(side);
    for (int i = 0; i < bands; ++i) {
      const double down = random.uniform(0.55, 0.92);
      const double inner = random.uniform(-0.7, 0.0);
      const Point from = at.at(inner, down);
      const double outer = inner + random.uniform(0.6, 0.9);
      const Point to = at.at(outer, down + random.uniform(-0.12, 0.10));
      const double radius_mm = between(s, 3.3, 5.8) * random.uniform(0.8, 1.2);
      canvas.add_finding(canvas.planes.fill, Tube{.from = from,
                                                  .to = to,
                                                  .radius_from_mm = radius_mm,
                                                  .radius_to_mm = 0.6 * radius_mm,
                                                  .stretch = between(s, 3.4, 5.6)});
    }
  };
}

}  // namespace roentgen::synth
