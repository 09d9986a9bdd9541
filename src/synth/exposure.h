// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts path lengths to a radiograph by these steps: Beer-Lambert law, scatter, quantum noise, detector, logarithm,
// gray window, film curve.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random.h"
#include "synth/canvas.h"

namespace roentgen::synth {

/// Line integral of attenuation for each pixel, without unit, (size, size): mu_tissue * tissue + mu_bone * bone.
[[nodiscard]] std::vector<float> line_integrals(const Planes& planes);

/// Exposes the canvas and returns the values of the film curve, (size, size), from 0 (black) to 1 (white); dense tissue
/// is white. `random` gives the quantum noise. `detail_seed` determines the fine detail of large images
/// (synth/film_detail.h).
[[nodiscard]] std::vector<float> expose(const Canvas& canvas, const Exposure& exposure, Random random,
                                        std::uint64_t detail_seed = 0);

}  // namespace roentgen::synth
