// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/placement.h"

#include <algorithm>

namespace roentgen::runtime {
namespace {

constexpr std::size_t kEnoughToPart = 4;
constexpr std::size_t kEnoughForCommunication = 16;
constexpr std::size_t kCoresToAnInputCore = 20;

// Removes the last `count` physical cores from `rest` and returns their hardware threads.
CoreList taken_from(std::vector<CoreList>& rest, std::size_t count) {
  CoreList taken;
  for (std::size_t i = 0; i < count; ++i) {
    taken.insert(taken.end(), rest.back().begin(), rest.back().end());
    rest.pop_back();
  }
  std::ranges::sort(taken);
  return taken;
}

}  // namespace

Placement place(const std::vector<CoreList>& cores, const PlaceNeeds& needs) {
  std::vector<CoreList> rest = cores;
  const bool is_asked = needs.threads > 0;
  const auto spare = [&] {
    const auto threads = static_cast<std::size_t>(std::max<std::int64_t>(needs.threads, 0));
    return cores.size() >= kEnoughToPart && rest.size() > threads ? rest.size() - threads : 0;
  };
  Placement placement;
  const bool has_enough = is_asked ? spare() > 0 : rest.size() >= kEnoughForCommunication;
  if (needs.has_communication && (needs.must_reserve ? rest.size() > 1 : has_enough)) {
    placement.communication = taken_from(rest, 1);
  }
  if (needs.has_input) placement.input = taken_from(rest, is_asked ? spare() : rest.size() / kCoresToAnInputCore);
  placement.compute = taken_from(rest, rest.size());
  return placement;
}

bool are_own(const std::vector<CoreList>& cores, int processes) {
  return processes > 0 &&
         cores.size() * static_cast<std::size_t>(processes) <= static_cast<std::size_t>(machine_cores());
}

}  // namespace roentgen::runtime
