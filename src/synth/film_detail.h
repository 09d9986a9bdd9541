// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What only a large image shows: structure finer than the anatomy that is drawn, and the detector's blur, which makes
// neighbouring pixels of its noise alike. Both are set so that images of 1024 px look, in statistics, like those of NIH
// ChestX-ray14 (docs/reference/synthetic.md). One thread each; the same floats everywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "synth/canvas.h"

namespace roentgen::synth {

/// How much of the detail images with pixels of this width show: 0 from 1.25 mm on (so that images of up to about 260
/// px are free of it), 1 below 0.65 mm (about 512 px), a straight line between.
[[nodiscard]] double detail_share(double pixel_mm);

/// Adds fine structure (vessels, airways, trabeculae, skin below the size of what is drawn) to line integrals, (size,
/// size): octaves of cubic B-spline noise with cells of 1.3 mm across and halves of it down to two pixels, taller than
/// wide by a factor drawn from the seed; most in lung and bone, nothing outside the body. Its place is that on the
/// detector in mm, whatever the size of the image.
void add_fine_structure(std::vector<float>& integrals, const Canvas& canvas, std::uint64_t seed);

/// Blurs a signal, (size, size), as a detector does: a Gaussian whose widths, in mm and drawn from the seed, differ
/// from study to study and a little between rows and columns.
void blur_as_detector(std::vector<float>& signal, const Canvas& canvas, std::uint64_t seed);

}  // namespace roentgen::synth
