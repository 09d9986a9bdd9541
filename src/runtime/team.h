// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Size of the OpenMP teams that compute: the number asked for may be more than OpenMP gives.
#pragma once

namespace roentgen::runtime {

/// Number of threads that OpenMP gives a team of `wanted` in the calling thread: fewer under OMP_THREAD_LIMIT,
/// OMP_MAX_ACTIVE_LEVELS=0, or within a parallel region. Starts no thread. Warns once where there are fewer.
[[nodiscard]] int given_team(int wanted);

/// Makes later teams of the calling thread have `threads` members, starts them, and flushes denormals to zero in each.
/// Turns off dynamic adjustment (OMP_DYNAMIC) for the calling thread, so that a loaded machine gives no smaller team.
/// @return members that OpenMP gave
[[nodiscard]] int prepare_team(int threads);

}  // namespace roentgen::runtime
