// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Size of OpenMP teams for computing. OpenMP may start fewer threads than requested.
#pragma once

namespace roentgen::runtime {

/// Returns the number of threads that OpenMP would give the calling thread for a team of `wanted`. It may be smaller
/// because of OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS=0 or an enclosing parallel region. Starts no thread. Warns once
/// if it is smaller.
[[nodiscard]] int given_team(int wanted);

/// Sets the size of later OpenMP teams of the calling thread, starts their threads, and flushes denormals to zero in
/// each. Turns off OMP_DYNAMIC for the calling thread, so that teams stay as large on a busy machine.
/// @return number of threads that OpenMP gave
[[nodiscard]] int prepare_team(int threads);

}  // namespace roentgen::runtime
