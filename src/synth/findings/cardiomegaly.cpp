// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
// Cardiomegaly: an enlarged heart, its shadow wider than half the inner thorax.
#include "synth/anatomy.h"
#include "synth/finding.h"
#include "synth/findings/opacity.h"

namespace roentgen::synth {

Painter plant_cardiomegaly(Chest& chest, Plan plan) {
  Heart& heart = chest.heart;
  heart.cardiothoracic_ratio = std::max(heart.cardiothoracic_ratio, between(plan.severity, 0.51, 0.68));
  heart.roundness = std::min(0.9, heart.roundness + 0.06 * plan.severity);
  heart.half_depth_mm *= 1.0 + 0.2 * plan.severity;
  heart.center.x_mm += 3.0 * plan.severity;
  return [](Canvas& canvas, const Chest& final_chest) {
    const Ellipsoid shape = heart_shape(final_chest);
    const double half_x = final_chest.heart.cardiothoracic_ratio * final_chest.half_width_mm;
    canvas.touch(Rect{shape.center.x_mm - half_x, shape.center.y_mm - 0.85 * half_x, shape.center.x_mm + half_x,
                      shape.center.y_mm + 0.85 * half_x});
    canvas.claim(shape);
  };
}

}  // namespace roentgen::synth
