// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// From path lengths to an 8-bit radiograph: Beer-Lambert, scatter, quantum noise, logarithm, window, film curve.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random.h"
#include "synth/canvas.h"

namespace roentgen::synth {

/// Line integral of attenuation per pixel, no unit, (size, size): mu_tissue * tissue + mu_bone * bone.
[[nodiscard]] std::vector<float> line_integrals(const Planes& planes);

/// Exposes the canvas; (size, size) 8-bit gray, dense is white. `random` gives the quantum noise.
[[nodiscard]] std::vector<std::uint8_t> expose(const Canvas& canvas, const Exposure& exposure, Random random);

}  // namespace roentgen::synth
