// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
// Consolidation: a lobe whose airspaces are evenly filled with fluid. The fissure bounds it, and air bronchograms cross
// it.
#include "core/portable_math.h"
#include "synth/anatomy.h"
#include "synth/finding.h"
#include "synth/findings/opacity.h"

namespace roentgen::synth {
namespace {
// Draws air that remains in the larger airways of a filled lobe.
void paint_bronchograms(Canvas& canvas, Random& random, Point from, Point towards) {
  const int airways = 2 + static_cast<int>(random.below(2));
  for (int i = 0; i < airways; ++i) {
    const Point to{towards.x_mm + random.uniform(-25.0, 25.0), towards.y_mm + random.uniform(-22.0, 22.0)};
    canvas.add(canvas.planes.fill, Tube{.from = from, .to = to, .radius_from_mm = 2.6, .radius_to_mm = 1.4}, -1.5);
  }
}
}  // namespace

Painter plant_consolidation(Chest&, Plan plan) {
  return [plan](Canvas& canvas, const Chest& chest) mutable {
    Random& random = plan.random;
    const double s = plan.severity;
    const Lung& lung = chest.lung(either_side(random));
    const bool upper = random.chance(0.5);
    const Point at = lung.at(random.uniform(0.0, 0.5), upper ? 0.33 : 0.76);
    const Point root = hilum(chest, lung);
    const double fissure_rad = random.uniform(-0.25, 0.25);
    const double fissure_y_mm = root.y_mm + random.uniform(2.0, 16.0);
    const auto nx = static_cast<float>(-portable_sin(fissure_rad)), ny = static_cast<float>(portable_cos(fissure_rad));
    const auto ax = static_cast<float>(root.x_mm), ay = static_cast<float>(fissure_y_mm);
    const float inward = upper ? -1.0F : 1.0F;
    const auto fluid = static_cast<float>(between(s, 13.0, 55.0));
    const float side = lung.side < 0.0 ? -1.0F : 1.0F;
    const Ellipsoid lobe{.center = at,
                         .along_mm = between(s, 46.0, 74.0),
                         .across_mm = between(s, 36.0, 54.0),
                         .depth_mm = 50.0,
                         .angle_rad = random.uniform(-0.4, 0.4)};
    auto& planes = canvas.planes;
    canvas.for_each(lobe, [&](std::size_t index, float q, float, float x, float y) {
      if (x * side < 0.0F || planes.air[index] <= 0.0F) return;
      const float beyond = inward * ((x - ax) * nx + (y - ay) * ny);
      const float mm = fluid * smooth_step((1.0F - q) * 1.6F) * smooth_step(beyond * 0.25F + 0.5F);
      planes.fill[index] += mm;
      if (mm > 3.0F) canvas.touch(index);
    });
    paint_bronchograms(canvas, random, root, at);
    for (float& value : planes.fill) value = std::max(value, 0.0F);
  };
}

}  // namespace roentgen::synth
