// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/finding.h"

namespace roentgen::synth {

Painter plant(Finding finding, Chest& chest, const Plan& plan) {
  using Planter = Painter (*)(Chest&, Plan);
  constexpr std::array<Planter, kFindingCount> kPlanters{
#define RG_X(id, function, text, rank, persistence, nih) plant_##function,
      RG_SYNTH_FINDING_LIST(RG_X)
#undef RG_X
  };
  return kPlanters[static_cast<std::size_t>(finding)](chest, plan);
}

}  // namespace roentgen::synth
