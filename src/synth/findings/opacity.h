// SPDX-License-Identifier: Apache-2.0 SPDX-FileCopyrightText: The Roentgen authors Functions that several findings use:
// patches of fluid in the airspaces, random side, interpolation by severity.
#pragma once

#include <cstdint>

#include "synth/canvas.h"

namespace roentgen::synth {

/// A patch of lung whose airspaces are filled with fluid.
struct Opacity {
  Ellipsoid shape;
  /// Length of fluid on the ray through the middle, mm.
  double fluid_mm = 30.0;
  /// 0: a sharp edge like an ellipsoid's; 1: fades out like (1 - q)^2, where q is 0 in the middle and 1 at the edge.
  double softness = 1.0;
  /// Patchiness: share of the fluid that varies with a random texture, and the cell size of this texture.
  double patchy = 0.0;
  double cell_mm = 8.0;
  std::uint64_t seed = 0;
};

/// Paints the patch into planes.fill, only on the side of the chest in which it lies. Marks the pixels with more than 3
/// mm of fluid.
void paint(Canvas& canvas, const Opacity& opacity);

/// Returns a random side of the chest, 0 or 1 with equal probability.
[[nodiscard]] inline int either_side(Random& random) { return static_cast<int>(random.below(2)); }

/// Interpolates linearly: a at severity 0, b at severity 1.
[[nodiscard]] inline double between(double severity, double a, double b) { return a + (b - a) * severity; }

}  // namespace roentgen::synth
