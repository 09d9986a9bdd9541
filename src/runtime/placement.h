// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Which cores of a process compute, talk to other processes, and read images.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/core_list.h"

namespace roentgen::runtime {

/// What a process's cores have to do besides computing.
struct PlaceNeeds {
  bool has_communication = false;
  bool has_input = false;
  /// Compute threads that were asked for; 0: as many as there are cores for them.
  std::int64_t threads = 0;
};

/// Who has which cores. Communication or input without cores of its own shares those that compute.
struct Placement {
  CoreList compute;
  CoreList communication;
  CoreList input;
};

/// From physical cores, each with its hardware threads, in the machine's own order, where neighbours share caches and
/// memory; whole cores are given, from the end. Where compute threads were asked for, what they leave of at least
/// 4 cores is given away: communication has one core, input the rest. Else communication has one of at least 16 cores,
/// and then input one in 20: what is lost to computing is less than what a team loses that waits for the thread whose
/// core is shared.
[[nodiscard]] Placement place(const std::vector<CoreList>& cores, const PlaceNeeds& needs);

/// Can each of `processes` of this machine have so many physical cores for itself? 0 processes: not known, no.
[[nodiscard]] bool are_own(const std::vector<CoreList>& cores, int processes);

}  // namespace roentgen::runtime
