// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Detail that is visible only in large images: structure finer than the drawn anatomy, and the detector's blur, which
// correlates the noise of neighbouring pixels. Both are set so that images of 1024 px have the statistics of NIH
// ChestX-ray14 (docs/reference/synthetic.md). For use by one thread; the floats are the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "synth/canvas.h"

namespace roentgen::synth {

/// Returns the strength of the fine detail, 0 to 1, for images with pixels of this width. It is 0 from 1.25 mm on, so
/// that images of up to about 260 px have none. It is 1 below 0.65 mm (about 512 px), and linear between.
[[nodiscard]] double detail_share(double pixel_mm);

/// Adds fine structure to line integrals (size, size): vessels, airways, trabeculae and skin that are too
/// small to be drawn. It consists of octaves of cubic B-spline noise. The cells of the first octave are 1.3 mm wide;
/// each further octave halves them, down to two pixels. Cells are taller than wide, by a factor that depends on the
/// seed. It is strongest in lung and bone, and absent outside the body. Its position in mm on the detector does not
/// depend on the image size.
void add_fine_structure(std::vector<float>& integrals, const Canvas& canvas, std::uint64_t seed);

/// Blurs a signal (size, size) as a detector does. The widths of the Gaussian in mm depend on the seed. They differ
/// between studies, and a little between rows and columns.
void blur_as_detector(std::vector<float>& signal, const Canvas& canvas, std::uint64_t seed);

}  // namespace roentgen::synth
