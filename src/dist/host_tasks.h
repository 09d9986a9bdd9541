// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Slurm's lists of tasks per host, such as SLURM_TASKS_PER_NODE.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace roentgen::dist {

/// Neighbouring hosts that have the same number of tasks.
struct HostTasks {
  std::int64_t tasks = 1;  ///< tasks on each of the hosts
  std::int64_t hosts = 1;
};

/// Parses a part between two commas of a list: "2(x3)" means 2 tasks on each of 3 hosts, "4" means 4 tasks on one host.
/// Returns nullopt for other text, and for zero tasks or hosts.
[[nodiscard]] std::optional<HostTasks> parse_host_tasks(std::string_view part);

/// Returns the number of tasks on a host in a list such as "2(x3),1"; nullopt if the list has other syntax or fewer
/// hosts.
/// @param host position of the host in the list; the first is 0
[[nodiscard]] std::optional<std::int64_t> tasks_on_host(std::string_view list, std::int64_t host);

}  // namespace roentgen::dist
