// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
// Helpers shared by several findings: soft patches of fluid in the airspaces, and places in the lung to put them.
#pragma once

#include <cstdint>

#include "synth/canvas.h"

namespace roentgen::synth {

/// A patch of lung whose airspaces are filled with fluid.
struct Opacity {
  Ellipsoid shape;
  /// Fluid on the ray through the middle.
  double fluid_mm = 30.0;
  /// 0: an ellipsoid's sharp edge; 1: fades out like (1 - q)^2.
  double softness = 1.0;
  /// Patchiness: share of the fluid that comes and goes with a texture of this cell size.
  double patchy = 0.0;
  double cell_mm = 8.0;
  std::uint64_t seed = 0;
};

/// Paints the patch into the fill plane on its own side of the chest and marks it where it exceeds 3 mm of fluid.
void paint(Canvas& canvas, const Opacity& opacity);

/// 0 or 1 with even odds.
[[nodiscard]] inline int either_side(Random& random) { return static_cast<int>(random.below(2)); }

/// a at severity 0, b at severity 1.
[[nodiscard]] inline double between(double severity, double a, double b) { return a + (b - a) * severity; }

}  // namespace roentgen::synth
