// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Guard of a rank that this program started under mpirun: a process between mpirun and the rank. When a signal ends the
// rank, the guard reports the rank, the signal, and how far the work had come. It does so before mpirun notices and
// ends the other ranks. So the report is the same with every MPI and on every host. Open MPI's own report does not say
// how far the work had come, and MPICH may name a rank that it ended itself.
#pragma once

#include <string>
#include <string_view>

#include "dist/launch_board.h"

namespace roentgen::cli {

/// Name of the guard process in `ps`.
inline constexpr const char* kGuardName = "roentgen-guard";

/// Forks this process and returns in the child, which becomes the rank. The parent waits for it, forwards signals,
/// reports a signal that ended it, and ends in the same way. If mpirun, the parent or the child ends, the others end
/// too. Call it before other threads exist. Throws DeviceError if no process can be created.
/// @param is_run    true if the rank's work can be resumed
/// @param is_tagged true if each output line of the rank gets its number as tag (tagged_output.h)
void guard_rank(bool is_run, bool is_tagged = false);

/// Returns a line that names the rank that a signal ended, and how far its work had come.
[[nodiscard]] std::string text_of(const dist::KilledRank& killed, const std::string& place, bool is_run);
/// True if the line was made by text_of().
[[nodiscard]] bool is_about_killed(std::string_view line);

/// Ends a daemon of mpirun that has lost the network link to mpirun, so that it does not wait until TCP gives up. If
/// this process is a child of such a daemon, it leaves a process behind that ends the daemon.
void end_deserted_daemon();

}  // namespace roentgen::cli
