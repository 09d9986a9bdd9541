// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads the hosts of --hosts-from: from a Slurm or PBS job, or from a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::cli {

/// A host and its number of ranks.
struct HostSlots {
  std::string name;
  std::int64_t slots = 1;
  friend bool operator==(const HostSlots&, const HostSlots&) = default;
};
using HostList = std::vector<HostSlots>;

/// Largest number of hosts in a list, and largest number of ranks on all hosts of a list.
inline constexpr std::int64_t kMostHostSlots = 65536;

/// Expands a list of hosts in Slurm's syntax (SLURM_JOB_NODELIST): "n[1-3,07],login" gives n1, n2, n3, n07 and login.
/// The lower bound of a range sets the minimum number of digits. If a name has several brackets, all combinations are
/// listed, the last bracket varying fastest. Throws ConfigError, which names the wrong character, if the text is
/// truncated, has other syntax, or lists more than kMostHostSlots hosts. Sizes are checked before names are made, so
/// memory use stays small.
[[nodiscard]] std::vector<std::string> expand_node_list(std::string_view text);

/// Expands a list of tasks per host in Slurm's syntax (SLURM_TASKS_PER_NODE): "2(x3),1" gives 2, 2, 2 and 1. Throws
/// ConfigError like expand_node_list().
[[nodiscard]] std::vector<std::int64_t> expand_tasks_per_node(std::string_view text);

/// Parses lines of "host", "host:slots" or "host slots=N" (a host file of Open MPI). Text after # is a comment; empty
/// lines are skipped. The slots of a repeated host are added up, so the file of PBS_NODEFILE, with one line per
/// process, works too. Throws ConfigError with the line number.
/// @param what name of the file, for errors
[[nodiscard]] HostList parse_host_lines(std::string_view text, std::string_view what);

/// Returns the hosts of `source`: "slurm" (SLURM_JOB_NODELIST and SLURM_TASKS_PER_NODE), "pbs" (the file named by
/// PBS_NODEFILE), or the path of a file. Throws ConfigError if a variable is missing, a list cannot be parsed, or the
/// Slurm job is heterogeneous (SLURM_HET_SIZE above 1).
/// @param environment all environment variables as "NAME=value"
[[nodiscard]] HostList hosts_from(const std::string& source, const std::vector<std::string>& environment);

/// Returns the hosts with only the first `ranks` slots; 0: all slots. Throws ConfigError if the hosts have fewer slots.
[[nodiscard]] HostList first_slots(HostList hosts, std::int64_t ranks);
/// Returns the number of slots on all hosts together.
[[nodiscard]] std::int64_t slots_of(const HostList& hosts);
/// Formats hosts like the value of --hosts: "a:2,b:2".
[[nodiscard]] std::string text_of(const HostList& hosts);
/// Parses the value of --hosts, which require_hosts() (mpirun_command.h) must have accepted.
[[nodiscard]] HostList parse_hosts(std::string_view text);

}  // namespace roentgen::cli
