// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Renders a study from its key: radiograph and truth. A pure function, the same bits on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "synth/canvas.h"
#include "synth/film.h"
#include "synth/truth.h"

namespace roentgen::synth {

/// A rendered study.
struct Study {
  std::int64_t size_px = 0;
  /// (size, size), row-major, the film curve's values from 0 (black) to 1 (white), markers and frame included, never
  /// inverted. Every stored form is a quantisation of it (synth/film.h).
  std::vector<float> gray;
  /// (size, size), row-major, 8-bit gray; dense is white unless marks.is_inverted.
  std::vector<std::uint8_t> pixels;
  FilmMarks marks;
  Truth truth;
  Scene scene;
  /// The smallest pixel box over what each finding painted; empty where it is absent or outside the image.
  PerFinding<PixelRect> boxes{};
  int age_years = 0;
  Sex sex = Sex::Female;
  View view = View::Pa;
  /// Width of a pixel on the detector.
  double pixel_mm = 0.0;
};

/// A study before exposure: its chest, with all findings in it.
struct LaidStudy {
  Chest chest;
  Canvas canvas;
  /// Box of each finding, like Study::boxes.
  PerFinding<PixelRect> boxes{};
  /// Organs whose whole shadow is the finding.
  PerFinding<std::vector<Ellipsoid>> organs{};
};

/// Draws the findings of a scene and projects the chest. With `without`, leaves out one finding; the others stay in
/// place, although the finding may have moved the structures around them. Thread-safe.
[[nodiscard]] LaidStudy lay_study(const StudyKey& key, std::int64_t size_px, const Scene& scene,
                                  std::optional<Finding> without = std::nullopt);

/// Draws and renders one study. Thread-safe.
[[nodiscard]] Study render_study(const StudyKey& key, std::int64_t size_px, const Population& population = {},
                                 const FilmOptions& film = {});

/// Renders a study with given severities instead of drawn ones; labels are then severity > 0. For tests, and for
/// pairs of one image with and without a finding.
[[nodiscard]] Study render_with(const StudyKey& key, std::int64_t size_px, const PerFinding<double>& severity,
                                const FilmOptions& film = {});

/// The study of a scene without one finding, the others unchanged: same patient, pose, beam, noise and marks on the
/// film. Truth is left empty.
[[nodiscard]] Study render_without(const StudyKey& key, std::int64_t size_px, const Scene& scene, Finding finding,
                                   const FilmOptions& film = {});

}  // namespace roentgen::synth
