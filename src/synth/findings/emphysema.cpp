// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
// Emphysema: destroyed, overinflated lung. Drawn as dark lung fields, flat low diaphragms, few thin vessels, a narrow
// heart and bullae.
#include "synth/anatomy.h"
#include "synth/finding.h"
#include "synth/findings/opacity.h"

namespace roentgen::synth {

Painter plant_emphysema(Chest& chest, Plan plan) {
  Random& random = plan.random;
  const double s = plan.severity;
  for (Lung& lung : chest.lungs) {
    lung.density *= between(s, 0.82, 0.40);
    lung.vessels *= between(s, 0.65, 0.20);
    lung.dome_y_mm += between(s, 8.0, 26.0);
    lung.dome_rise_mm *= between(s, 0.55, 0.10);
    lung.half_depth_mm *= between(s, 1.02, 1.12);
  }
  chest.heart.cardiothoracic_ratio *= between(s, 0.96, 0.82);
  chest.heart.center.y_mm += between(s, 1.0, 8.0);
  const int bullae = static_cast<int>(random.below(4));
  return [=](Canvas& canvas, const Chest& final_chest) mutable {
    for (const Lung& lung : final_chest.lungs) {
      for (int i = 0; i < bullae; ++i) {
        const double across = random.uniform(-0.2, 0.7);
        const Point at = lung.at(across, random.uniform(0.1, 0.6));
        const double radius_mm = random.uniform(7.0, 17.0);
        auto& planes = canvas.planes;
        const auto thin = static_cast<float>(between(s, 0.8, 0.3));
        canvas.for_each(Ellipsoid{.center = at, .along_mm = radius_mm, .across_mm = radius_mm, .depth_mm = radius_mm},
                        [&](std::size_t index, float, float, float, float) {
                          planes.density[index] *= thin;
                          planes.vessel[index] *= 0.3F;
                        });
      }
      canvas.touch(Rect{lung.center.x_mm - lung.half_width_mm, lung.top_mm(), lung.center.x_mm + lung.half_width_mm,
                        lung.dome_y_mm});
    }
  };
}

}  // namespace roentgen::synth
