// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Renders a study (radiograph and truth) from its key. A pure function with the same bits on every machine.
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
  /// Values of the film curve from 0 (black) to 1 (white), (size, size), row-major. Includes marker and frame, and is
  /// never inverted. Every storage format quantises these values (synth/film.h).
  std::vector<float> gray;
  /// 8-bit gray levels, (size, size), row-major. Dense tissue is white unless marks.is_inverted.
  std::vector<std::uint8_t> pixels;
  FilmMarks marks;
  Truth truth;
  Scene scene;
  /// Smallest pixel box around the painted pixels of each finding; empty if the finding is absent or outside the image.
  PerFinding<PixelRect> boxes{};
  int age_years = 0;
  Sex sex = Sex::Female;
  View view = View::Pa;
  /// Width of a pixel on the detector, mm.
  double pixel_mm = 0.0;
};

/// A study before exposure: its projected chest with all findings.
struct LaidStudy {
  Chest chest;
  Canvas canvas;
  /// Bounding box of each finding, like Study::boxes.
  PerFinding<PixelRect> boxes{};
  /// Organs whose whole shadow counts as the finding.
  PerFinding<std::vector<Ellipsoid>> organs{};
};

/// Draws the findings of a scene and projects the chest. Leaves out the finding `without`, if given. All remaining
/// findings keep their positions, even if `without` has moved the anatomy around them. Thread-safe.
[[nodiscard]] LaidStudy lay_study(const StudyKey& key, std::int64_t size_px, const Scene& scene,
                                  std::optional<Finding> without = std::nullopt);

/// Draws the findings of one study at random and renders it. Thread-safe.
[[nodiscard]] Study render_study(const StudyKey& key, std::int64_t size_px, const Population& population = {},
                                 const FilmOptions& film = {});

/// Renders a study with given severities instead of random ones; a label is positive if its severity is above 0. Used
/// by tests, and for pairs of images with and without a finding.
[[nodiscard]] Study render_with(const StudyKey& key, std::int64_t size_px, const PerFinding<double>& severity,
                                const FilmOptions& film = {});

/// Renders a scene without one finding and with everything else unchanged: patient, pose, beam, noise and marks on the
/// film. The truth in the result is empty.
[[nodiscard]] Study render_without(const StudyKey& key, std::int64_t size_px, const Scene& scene, Finding finding,
                                   const FilmOptions& film = {});

}  // namespace roentgen::synth
