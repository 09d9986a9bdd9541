// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/findings/opacity.h"

namespace roentgen::synth {

void paint(Canvas& canvas, const Opacity& opacity) {
  const Texture coarse(opacity.seed, opacity.cell_mm);
  const Texture fine(opacity.seed + 1, 0.6 * opacity.cell_mm);
  const auto fluid = static_cast<float>(opacity.fluid_mm);
  const auto soft = static_cast<float>(opacity.softness);
  const auto patchy = static_cast<float>(opacity.patchy);
  const float side = opacity.shape.center.x_mm < 0.0 ? -1.0F : 1.0F;
  auto& fill = canvas.planes.fill;
  canvas.for_each(opacity.shape, [&](std::size_t index, float q, float, float x, float y) {
    if (x * side < 0.0F) return;
    const float rest = 1.0F - q;
    const float profile = soft * rest * rest + (1.0F - soft) * std::sqrt(rest);
    const float patch = std::max(
        0.0F, 1.0F - patchy +
                  patchy * (1.0F + 1.0F * coarse.at(x, y) + 0.8F * fine.at(0.8F * x - 0.6F * y, 0.6F * x + 0.8F * y)));
    const float mm = fluid * profile * patch;
    fill[index] += mm;
    if (mm > 3.0F && canvas.planes.air[index] > 0.0F) canvas.touch(index);
  });
}

}  // namespace roentgen::synth
