// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Start of the ranks that options ask for: hosts, limits, mpirun, restarts. Of launch.cpp, not for others.
#pragma once

#include <string>
#include <vector>

#include "cli/launch.h"
#include "cli/launcher.h"

namespace roentgen::cli {

/// Puts what --hosts-from names into `ranks` and `hosts`. Throws as hosts_from() and first_slots(), and ConfigError for
/// --hosts beside it.
[[nodiscard]] RankOptions with_hosts(RankOptions options);

/// Runs `command` (program and arguments) as ranks to their end. Throws ConfigError for hosts that are no list and for
/// limits of open files that are too low, and as run_group().
[[nodiscard]] GroupEnd start_group(const RankOptions& options, const std::vector<std::string>& command,
                                   GroupOptions how);

/// start_group(), again as --restart says: run_with_restarts().
[[nodiscard]] GroupEnd start_groups(RankOptions options, const std::vector<std::string>& command);

}  // namespace roentgen::cli
