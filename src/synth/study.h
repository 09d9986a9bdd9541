// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// One study from its key: radiograph and truth. A pure function, the same bits on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "synth/canvas.h"
#include "synth/truth.h"

namespace roentgen::synth {

/// A rendered study.
struct Study {
  std::int64_t size_px = 0;
  /// (size, size), row-major, 8-bit gray; dense is white.
  std::vector<std::uint8_t> pixels;
  Truth truth;
  /// The smallest pixel box over what each finding painted; empty where it is absent or outside the image.
  PerFinding<PixelRect> boxes{};
  int age_years = 0;
  Sex sex = Sex::Female;
  View view = View::Pa;
  /// Width of a pixel on the detector.
  double pixel_mm = 0.0;
};

/// Draws and renders one study. Thread-safe.
[[nodiscard]] Study render_study(const StudyKey& key, std::int64_t size_px, const Population& population = {});

/// Renders a study with given severities instead of drawn ones; labels are then severity > 0. For tests, and for
/// pairs of one image with and without a finding.
[[nodiscard]] Study render_with(const StudyKey& key, std::int64_t size_px, const PerFinding<double>& severity);

}  // namespace roentgen::synth
