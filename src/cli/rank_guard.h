// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A guard for each rank that this program has started under mpirun: the process that mpirun knows, whose child is the
// rank. When a signal ends a rank, the guard reports it before mpirun notices and ends the others. It reports the rank,
// its place in the work and the signal.
// So the report is the same under any MPI and on any host. Open MPI's own report lacks the place. MPICH's hydra names
// the lowest rank that it ended itself.
#pragma once

#include <string>
#include <string_view>

#include "dist/launch_board.h"

namespace roentgen::cli {

/// Process name of a guard in `ps`.
inline constexpr const char* kGuardName = "roentgen-guard";

/// Returns in a child of this process, which is the rank. This process waits for it, forwards signals, reports a signal
/// that ended it, and ends as it has ended. Neither outlives the other, nor mpirun. Call it before there are other
/// threads. Throws DeviceError where no process can be created.
/// @param is_run    the rank's work can be resumed
/// @param is_tagged each line of the rank's output begins with its number: tagged_output.h
void guard_rank(bool is_run, bool is_tagged = false);

/// One line: the rank that a signal ended, and its place in the work.
[[nodiscard]] std::string text_of(const dist::KilledRank& killed, const std::string& place, bool is_run);
/// Whether it is a line of text_of().
[[nodiscard]] bool is_about_killed(std::string_view line);

/// A daemon of mpirun whose host has lost its link hears nothing of the job's end, and stays for as long as TCP tries.
/// Where this process is such a daemon's child, a process that is left behind sees to the daemon's end.
void end_deserted_daemon();

}  // namespace roentgen::cli
