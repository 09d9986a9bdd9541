// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
// Pleural thickening: an uneven rim of soft tissue along part of the chest wall's height.
#include "synth/anatomy.h"
#include "synth/finding.h"
#include "synth/findings/opacity.h"

namespace roentgen::synth {

Painter plant_pleural_thickening(Chest&, Plan plan) {
  Random& random = plan.random;
  const double s = plan.severity;
  const int side = either_side(random);
  const double middle = random.uniform(0.25, 0.75);
  const double reach = random.uniform(0.25, 0.45);
  const double thick_mm = between(s, 5.5, 13.5) * random.uniform(0.85, 1.15);
  const double depth_mm = between(s, 22.0, 44.0);
  const std::uint64_t seed = random.next_u64();
  return [=](Canvas& canvas, const Chest& chest) {
    const Lung& lung = chest.lung(side);
    const Texture uneven(seed, 17.0);
    const double top = lung.top_mm(), height = lung.dome_y_mm - top;
    const auto sign = static_cast<float>(lung.side);
    auto& planes = canvas.planes;
    canvas.for_each(area_of(lung), [&](std::size_t index, float x, float y) {
      if (planes.air[index] <= 0.0F) return;
      const double wall =
          lung.middle_x_mm(static_cast<double>(y)) + lung.side * lung.half_width_at_mm(static_cast<double>(y));
      const float inward = sign * (static_cast<float>(wall) - x);
      const auto along = static_cast<float>(((static_cast<double>(y) - top) / height - middle) / reach);
      const float bump = std::max(0.0F, 1.0F - along * along);
      const float thick = static_cast<float>(thick_mm) * std::sqrt(bump) * (1.0F + 0.5F * uneven.at(x * 0.2F, y));
      const float share = smooth_step((thick - inward) * 0.35F + 0.5F) * (bump > 0.0F ? 1.0F : 0.0F);
      if (share <= 0.0F) return;
      planes.fill[index] += share * planes.air[index];
      planes.soft[index] += 0.35F * share * static_cast<float>(depth_mm);
      if (share > 0.3F) canvas.touch(index);
    });
  };
}

}  // namespace roentgen::synth
