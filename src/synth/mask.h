// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Where a finding shows, exactly: the study is laid out with it and without it, and rays that differ are the mask.
#pragma once

#include <cstdint>
#include <vector>

#include "synth/truth.h"

namespace roentgen::synth {

/// A ray belongs to a finding when it makes more than this much soft tissue of difference, in mm.
inline constexpr double kMaskLeastMm = 2.0;

/// Pixels of a finding, (size, size) row-major: 255 inside, 0 outside.
using Mask = std::vector<std::uint8_t>;

/// The mask of each finding that is there; empty where it is absent or differs nowhere in the image. A pixel is inside
/// when the line integral of attenuation, with all findings of the study, changes by more than kMaskLeastMm of soft
/// tissue if this one is taken out; or when it lies in the shadow of an organ whose size is the finding (the enlarged
/// heart). Scatter, noise and window, which carry a finding into every pixel, are left out. Thread-safe; lays the chest
/// out once more for each finding that is there.
[[nodiscard]] PerFinding<Mask> masks_of(const StudyKey& key, std::int64_t size_px, const Scene& scene);

}  // namespace roentgen::synth
