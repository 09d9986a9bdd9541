// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Findings: their names, and the functions that draw them. A finding first changes the geometry of the chest (a wider
// heart, a lower diaphragm). Then it returns what it paints onto the projected chest (fluid, nodules, lines).
#pragma once

#include <array>
#include <functional>
#include <string_view>

#include "core/random.h"
#include "synth/finding_list.h"

namespace roentgen::synth {

class Canvas;
struct Chest;

/// The findings; the value is the index in every array of this room.
enum class Finding : int {
#define RG_X(id, function, text, rank, persistence, nih) id,
  RG_SYNTH_FINDING_LIST(RG_X)
#undef RG_X
};

/// Names in the order of Finding, as label files write them.
inline constexpr std::array kFindingNames{
#define RG_X(id, function, text, rank, persistence, nih) std::string_view(text),
    RG_SYNTH_FINDING_LIST(RG_X)
#undef RG_X
};
inline constexpr int kFindingCount = static_cast<int>(kFindingNames.size());

/// Position of each finding in the range of prevalences, 0 to 1.
inline constexpr std::array kFindingRank{
#define RG_X(id, function, text, rank, persistence, nih) rank,
    RG_SYNTH_FINDING_LIST(RG_X)
#undef RG_X
};
/// Chance that a follow-up keeps the patient's draw of the finding.
inline constexpr std::array kFindingPersistence{
#define RG_X(id, function, text, rank, persistence, nih) persistence,
    RG_SYNTH_FINDING_LIST(RG_X)
#undef RG_X
};

/// Prevalence in NIH ChestX-ray14.
inline constexpr std::array kNihPrevalence{
#define RG_X(id, function, text, rank, persistence, nih) nih,
    RG_SYNTH_FINDING_LIST(RG_X)
#undef RG_X
};

/// One value per finding.
template <typename T>
using PerFinding = std::array<T, kFindingCount>;

/// Severity of a finding in a study, and the random stream for its details.
struct Plan {
  /// (0, 1]: severity. Size, extent or contrast grow with it, and only it decides the label's odds.
  double severity = 0.0;
  /// Belongs to (seed, patient, follow-up, finding).
  Random random;
};

/// Paints a finding onto the projected chest, whose geometry is final. The painted pixels determine the finding's box.
using Painter = std::function<void(Canvas&, const Chest&)>;

#define RG_X(id, function, text, rank, persistence, nih) Painter plant_##function(Chest& chest, Plan plan);
RG_SYNTH_FINDING_LIST(RG_X)
#undef RG_X

/// Calls the plant_ function of a finding, given its index.
[[nodiscard]] Painter plant(Finding finding, Chest& chest, const Plan& plan);

}  // namespace roentgen::synth
