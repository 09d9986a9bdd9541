// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Assignment of a process's cores to computing, communication with other processes, and reading images.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/core_list.h"

namespace roentgen::runtime {

/// Kinds of threads, besides compute threads, that may get separate cores.
struct PlaceNeeds {
  bool has_communication = false;
  /// Communication gets a core if there are two or more, however few.
  bool must_reserve = false;
  bool has_input = false;
  /// Requested number of compute threads; 0 for one per core.
  std::int64_t threads = 0;
};

/// Cores for each kind of thread. An empty list for communication or input means that they share the compute cores.
struct Placement {
  CoreList compute;
  CoreList communication;
  CoreList input;
};

/// Assigns cores to threads. `cores` contains physical cores with their hardware threads, in the order of the machine,
/// where neighbours share caches and memory. Communication and input get whole cores from the end.
/// With must_reserve, communication gets one of two or more cores.
/// With a requested number of compute threads: if at least 4 cores are left over, communication gets one and input the
/// rest.
/// Otherwise communication gets one core if there are at least 16, and input one core in 20. This slows computing less
/// than waiting for a thread on a shared core.
[[nodiscard]] Placement place(const std::vector<CoreList>& cores, const PlaceNeeds& needs);

/// True if the machine has enough physical cores for each of `processes` processes to use as many as `cores` contains.
/// False if `processes` is 0 (unknown).
[[nodiscard]] bool are_own(const std::vector<CoreList>& cores, int processes);

}  // namespace roentgen::runtime
