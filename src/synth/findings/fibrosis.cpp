// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
// Fibrosis: scarred lung. Drawn as a mesh of fine lines, densest at the base and the rim, in shrunken lungs.
#include "core/portable_math.h"
#include "synth/finding.h"
#include "synth/findings/opacity.h"

namespace roentgen::synth {

Painter plant_fibrosis(Chest& chest, Plan plan) {
  const double s = plan.severity;
  for (Lung& lung : chest.lungs) lung.dome_y_mm -= between(s, 2.0, 8.0);
  return [plan, s](Canvas& canvas, const Chest& final_chest) mutable {
    Random& random = plan.random;
    const int cells = static_cast<int>(between(s, 50.0, 120.0));
    for (const Lung& lung : final_chest.lungs) {
      for (int i = 0; i < cells; ++i) {
        // Honeycomb texture: each cell is a hexagon of septa seen edge-on.
        const double rim = std::sqrt(random.uniform());
        const double across = (random.chance(0.75) ? 1.0 : -1.0) * rim * 0.93;
        const double upward = random.uniform();
        const double down = 1.0 - 0.75 * upward * random.uniform();
        const Point at = lung.at(across, std::min(0.97, down));
        const double cell_mm = random.uniform(4.5, 9.0);
        const double first_rad = random.uniform(0.0, 1.0);
        for (int corner = 0; corner < 6; ++corner) {
          if (random.chance(0.3)) continue;
          const double a = first_rad + 1.0472 * corner, b = a + 1.0472;
          canvas.add_finding(canvas.planes.fill,
                             Tube{.from = {at.x_mm + cell_mm * portable_cos(a), at.y_mm + cell_mm * portable_sin(a)},
                                  .to = {at.x_mm + cell_mm * portable_cos(b), at.y_mm + cell_mm * portable_sin(b)},
                                  .radius_from_mm = 0.8,
                                  .radius_to_mm = 0.8,
                                  .stretch = between(s, 4.2, 6.8)});
        }
      }
    }
  };
}

}  // namespace roentgen::synth
