// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Detail that only a large image shows: structure finer than the drawn anatomy, and the detector's blur, which
// correlates neighbouring pixels of its noise. Both are set so that images of 1024 px have the statistics of NIH
// ChestX-ray14 (docs/reference/synthetic.md). One thread each; the same floats everywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "synth/canvas.h"

namespace roentgen::synth {

/// Share of the detail that images with pixels of this width show. It is 0 from 1.25 mm on, so that images of up to
/// about 260 px have none. It is 1 below 0.65 mm (about 512 px), and linear between.
[[nodiscard]] double detail_share(double pixel_mm);

/// Adds fine structure to line integrals (size, size): vessels, airways, trabeculae and skin below the size of the
/// drawn anatomy. It consists of octaves of cubic B-spline noise, with cells from 1.3 mm across down by halves to two
/// pixels. Cells are taller than wide by a factor drawn from the seed. Lung and bone have most of it; outside the body
/// there is none. It is placed in mm on the detector, whatever the size of the image.
void add_fine_structure(std::vector<float>& integrals, const Canvas& canvas, std::uint64_t seed);

/// Blurs a signal (size, size) as a detector does. The Gaussian's widths, in mm and drawn from the seed, differ between
/// studies and a little between rows and columns.
void blur_as_detector(std::vector<float>& signal, const Canvas& canvas, std::uint64_t seed);

}  // namespace roentgen::synth
