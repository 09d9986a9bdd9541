// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
// Pneumothorax: air in the pleural space. The lung shrinks towards its hilum; outside the fine pleural line there is
// only air, without vessels.
#include "synth/anatomy.h"
#include "synth/finding.h"
#include "synth/findings/opacity.h"

namespace roentgen::synth {

Painter plant_pneumothorax(Chest&, Plan plan) {
  Random& random = plan.random;
  const int side = either_side(random);
  // Remaining size of the collapsed lung
  const double left = 1.0 - between(plan.severity, 0.13, 0.46) * random.uniform(0.9, 1.1);
  const double sink_mm = random.uniform(0.0, 12.0);
  const double line_mm = random.uniform(9.0, 16.0);
  return [=](Canvas& canvas, const Chest& chest) {
    const Lung& lung = chest.lung(side);
    const Point root = hilum(chest, lung);
    // Outline of the collapsed lung, shrunk towards the hilum and the diaphragm.
    const double cx = root.x_mm + (lung.center.x_mm - root.x_mm) * left;
    const double cy = lung.center.y_mm + 0.5 * (1.0 - left) * lung.half_height_mm + sink_mm;
    const double a = lung.half_width_mm * left, b = lung.half_height_mm * (0.5 + 0.5 * left);
    const auto fcx = static_cast<float>(cx), fcy = static_cast<float>(cy), sign = static_cast<float>(lung.side);
    const auto lean = static_cast<float>(lung.side * lung.lean);
    const auto per_a = static_cast<float>(1.0 / a), per_b = static_cast<float>(1.0 / b), fa = static_cast<float>(a);
    const auto denser = static_cast<float>(1.0 + 0.8 * (1.0 - left));
    const auto line = static_cast<float>(line_mm);
    const auto width = static_cast<float>(std::max(1.2, 0.7 * canvas.pixel_mm()));
    const auto thin = static_cast<float>(1.2 / std::max(1.2, 0.7 * canvas.pixel_mm()));
    auto& planes = canvas.planes;
    canvas.for_each(area_of(lung), [&](std::size_t index, float x, float y) {
      if (planes.air[index] <= 0.0F || x * sign < 0.0F) return;
      const float u = (x - fcx + lean * std::max(0.0F, fcy - y)) * per_a;
      // The outline has no lower edge, because the collapsed lung lies on the diaphragm
      const float v = std::min(0.0F, y - fcy) * per_b;
      const float r = std::sqrt(u * u + v * v);
      const float beyond_mm = (r - 1.0F) * fa;
      // Full weight only on the lateral side; the lung stays attached on the mediastinal side.
      const float free_side = u * sign > -0.3F || v < -0.6F ? 1.0F : 0.0F;
      const float share = free_side * smooth_step(beyond_mm / width + 0.5F);
      planes.vessel[index] *= 1.0F - share;
      planes.density[index] *= share > 0.5F ? 0.12F : denser;
      const float edge = std::max(0.0F, 1.0F - std::fabs(beyond_mm) / (1.4F * width));
      planes.fill[index] += free_side * line * thin * edge;
      if (share > 0.5F) canvas.touch(index);
    });
  };
}

}  // namespace roentgen::synth
