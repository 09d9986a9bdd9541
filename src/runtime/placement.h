// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Assignment of a process's cores to computing, communication with other processes, and reading images.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/core_list.h"

namespace roentgen::runtime {

/// Work of a process besides computing that may get separate cores.
struct PlaceNeeds {
  bool has_communication = false;
  bool has_input = false;
  /// Compute threads that were asked for; 0: as many as there are cores for them.
  std::int64_t threads = 0;
};

/// Cores of each kind of thread. Communication or input without separate cores shares those that compute.
struct Placement {
  CoreList compute;
  CoreList communication;
  CoreList input;
};

/// Assigns cores to threads. `cores` holds physical cores, each with its hardware threads, in the machine's order,
/// where neighbours share caches and memory. Whole cores are taken from the end.
/// With a requested number of compute threads: if at least 4 cores are left over, communication gets one and input the
/// rest.
/// Otherwise communication gets one core of at least 16, and input one in 20. This costs the compute team less than
/// waiting for a thread whose core is shared.
[[nodiscard]] Placement place(const std::vector<CoreList>& cores, const PlaceNeeds& needs);

/// Whether each of `processes` on this machine can have so many physical cores to itself. False for 0 (unknown)
/// processes.
[[nodiscard]] bool are_own(const std::vector<CoreList>& cores, int processes);

}  // namespace roentgen::runtime
