// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Findings: their names, and the functions that draw them. A finding first changes the geometry of the chest (a wider
// heart, a lower diaphragm). Then it returns a function that paints onto the projected chest (fluid, nodules, lines).
#pragma once

#include <array>
#include <functional>
#include <string_view>

#include "core/random.h"
#include "synth/finding_list.h"

namespace roentgen::synth {

class Canvas;
struct Chest;

/// All findings. The value is the index in every PerFinding array.
enum class Finding : int {
#define RG_X(id, function, text, rank, persistence, nih) id,
  RG_SYNTH_FINDING_LIST(RG_X)
#undef RG_X
};

/// Names of the findings as label files write them, in the order of Finding.
inline constexpr std::array kFindingNames{
#define RG_X(id, function, text, rank, persistence, nih) std::string_view(text),
    RG_SYNTH_FINDING_LIST(RG_X)
#undef RG_X
};
inline constexpr int kFindingCount = static_cast<int>(kFindingNames.size());

/// Rank of each finding in the range of prevalences: 0 is the lowest prevalence, 1 the highest.
inline constexpr std::array kFindingRank{
#define RG_X(id, function, text, rank, persistence, nih) rank,
    RG_SYNTH_FINDING_LIST(RG_X)
#undef RG_X
};
/// Probability that a follow-up study keeps a finding (or its absence) of the patient's first study, instead of drawing
/// it again.
inline constexpr std::array kFindingPersistence{
#define RG_X(id, function, text, rank, persistence, nih) persistence,
    RG_SYNTH_FINDING_LIST(RG_X)
#undef RG_X
};

/// Prevalence of each finding in NIH ChestX-ray14.
inline constexpr std::array kNihPrevalence{
#define RG_X(id, function, text, rank, persistence, nih) nih,
    RG_SYNTH_FINDING_LIST(RG_X)
#undef RG_X
};

/// Array with one value per finding.
template <typename T>
using PerFinding = std::array<T, kFindingCount>;

/// Severity of a finding in a study, and the random stream for its details.
struct Plan {
  /// Severity in (0, 1]. Size, extent or contrast grow with it. The probability of a positive label depends only on it.
  double severity = 0.0;
  /// Random stream that depends on seed, patient, follow-up and finding.
  Random random;
};

/// Paints a finding onto the projected chest, whose geometry is final. The painted pixels determine the finding's box.
using Painter = std::function<void(Canvas&, const Chest&)>;

#define RG_X(id, function, text, rank, persistence, nih) Painter plant_##function(Chest& chest, Plan plan);
RG_SYNTH_FINDING_LIST(RG_X)
#undef RG_X

/// Calls the function plant_NAME() of a finding, see finding_list.h.
[[nodiscard]] Painter plant(Finding finding, Chest& chest, const Plan& plan);

}  // namespace roentgen::synth
