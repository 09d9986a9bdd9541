// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Starts the ranks with mpirun: checks hosts and limits, and restarts ranks after failures. Only for launch.cpp.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/launch.h"
#include "cli/launcher.h"

namespace roentgen::cli {

/// Shortest time limit for the start and the end of ranks, even if --comm-timeout is shorter. All results are written
/// before the end, so the ranks wait only briefly for each other.
inline constexpr std::chrono::seconds kShortestLimit{5};
/// Time by which the limits of the ranks exceed those of the process that started them. This process reports first,
/// because it sees which rank is stopped.
inline constexpr std::chrono::seconds kAfterStarter{2};

/// Returns options in which the hosts of --hosts-from and the number of ranks per host set `ranks` and `hosts`. One
/// rank on this host is 0 ranks, a plain process. Throws like hosts_from() and first_slots(), and ConfigError if
/// --hosts is given beside --hosts-from, or --ranks differs from the ranks of all hosts.
[[nodiscard]] RankOptions with_hosts(RankOptions options, const RankLayout& layout);

/// Runs `command` (program and arguments) on all ranks until they end. Throws ConfigError if the hosts are no valid
/// list or the limit of open files is too low, and like run_group().
[[nodiscard]] GroupEnd start_group(const RankOptions& options, const std::vector<std::string>& command,
                                   GroupOptions how);

/// Runs start_group(), with restarts after failures as --restart allows, see run_with_restarts().
[[nodiscard]] GroupEnd start_groups(RankOptions options, const std::vector<std::string>& command);

}  // namespace roentgen::cli
