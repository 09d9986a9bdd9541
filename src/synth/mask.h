// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Exact mask of a finding: the study is projected with and without the finding, and the rays that differ form the mask.
#pragma once

#include <cstdint>
#include <vector>

#include "synth/truth.h"

namespace roentgen::synth {

/// Smallest change by the finding for which a pixel belongs to the mask, in mm of soft tissue.
inline constexpr double kMaskLeastMm = 2.0;

/// Pixels of a finding, (size, size) row-major: 255 inside, 0 outside.
using Mask = std::vector<std::uint8_t>;

/// Returns the mask of each finding; empty if the finding is absent or changes no pixel. A pixel is inside the mask if
/// removing only this finding changes its line integral of attenuation by more than kMaskLeastMm of soft tissue. The
/// whole shadow of an organ is inside if its size is the finding (an enlarged heart). Scatter, noise and the gray
/// window are ignored, because they let a finding change every pixel. Thread-safe; projects the chest once more for
/// each present finding.
[[nodiscard]] PerFinding<Mask> masks_of(const StudyKey& key, std::int64_t size_px, const Scene& scene);

}  // namespace roentgen::synth
