// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Size of OpenMP teams for computing. OpenMP may start fewer threads than requested.
#pragma once

#include <functional>

namespace roentgen::runtime {

/// Returns the number of threads that OpenMP would give the calling thread for a team of `wanted`. It may be smaller
/// because of OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS=0 or an enclosing parallel region. Starts no thread. Warns once
/// if it is smaller.
[[nodiscard]] int given_team(int wanted);

/// Sets the size of later OpenMP teams of the calling thread, starts their threads, and flushes denormals to zero in
/// each. Turns off OMP_DYNAMIC for the calling thread, so that teams stay as large on a busy machine.
/// @return number of threads that OpenMP gave
[[nodiscard]] int prepare_team(int threads);

/// Calls `work` on each of `threads` threads of the calling thread's team, with the thread's number from 0, and waits
/// for all of them. `work` must not throw.
void run_team(int threads, const std::function<void(int thread)>& work);

}  // namespace roentgen::runtime
