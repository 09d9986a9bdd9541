// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Exact mask of a finding: the study is projected with it and without it, and rays that differ form the mask.
#pragma once

#include <cstdint>
#include <vector>

#include "synth/truth.h"

namespace roentgen::synth {

/// A ray belongs to a finding when it makes more than this much soft tissue of difference, in mm.
inline constexpr double kMaskLeastMm = 2.0;

/// Pixels of a finding, (size, size) row-major: 255 inside, 0 outside.
using Mask = std::vector<std::uint8_t>;

/// The mask of each finding that is present; empty where it is absent or changes no pixel. A pixel is inside when
/// removing this finding changes the line integral of attenuation by more than kMaskLeastMm of soft tissue. The other
/// findings of the study stay in place. A pixel is also inside when it lies in the shadow of an organ whose size is the
/// finding (the enlarged heart). Scatter, noise and window, which carry a finding into every pixel, are ignored.
/// Thread-safe; projects the chest once more for each present finding.
[[nodiscard]] PerFinding<Mask> masks_of(const StudyKey& key, std::int64_t size_px, const Scene& scene);

}  // namespace roentgen::synth
