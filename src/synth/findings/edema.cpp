// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
// Edema: fluid backed up from the heart. Haze around both hila, wide vessels, short Kerley lines at the flanks.
#include "synth/anatomy.h"
#include "synth/finding.h"
#include "synth/findings/opacity.h"

namespace roentgen::synth {
namespace {
void paint_kerley_lines(Canvas& canvas, Random& random, const Lung& lung, double severity) {
  const int lines = 4 + static_cast<int>(random.below(4));
  for (int i = 0; i < lines; ++i) {
    const double down = random.uniform(0.6, 0.97);
    canvas.add_finding(canvas.planes.fill, Tube{.from = lung.at(0.96, down),
                                                .to = lung.at(random.uniform(0.62, 0.75), down),
                                                .radius_from_mm = 0.8,
                                                .radius_to_mm = 0.7,
                                                .stretch = between(severity, 4.0, 9.0)});
  }
}
}  // namespace

Painter plant_edema(Chest& chest, Plan plan) {
  const double s = plan.severity;
  for (Lung& lung : chest.lungs) lung.vessels *= between(s, 1.1, 1.6);
  return [plan, s](Canvas& canvas, const Chest& final_chest) mutable {
    Random& random = plan.random;
    for (const Lung& lung : final_chest.lungs) {
      const Point root = hilum(final_chest, lung);
      const Point at{root.x_mm + lung.side * random.uniform(14.0, 22.0), root.y_mm + random.uniform(4.0, 20.0)};
      paint(canvas, {.shape = {.center = at,
                               .along_mm = between(s, 40.0, 56.0),
                               .across_mm = between(s, 58.0, 86.0),
                               .depth_mm = 60.0,
                               .angle_rad = -0.15 * lung.side},
                     .fluid_mm = between(s, 12.0, 42.0) * random.uniform(0.75, 1.25),
                     .patchy = 0.5,
                     .cell_mm = 13.0,
                     .seed = random.next_u64()});
      paint_kerley_lines(canvas, random, lung, s);
    }
  };
}

}  // namespace roentgen::synth
