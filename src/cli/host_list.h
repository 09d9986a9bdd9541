// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Hosts of --hosts-from: those of a Slurm or PBS job, or of a file.
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

/// Most hosts of a list, and most ranks of all its hosts.
inline constexpr std::int64_t kMostHostSlots = 65536;

/// Expands Slurm's form of a list of hosts, as in SLURM_JOB_NODELIST: "n[1-3,07],login" is n1, n2, n3, n07 and login.
/// The lower bound of a range sets the least number of digits. Several brackets in one name combine, the last one
/// fastest. ConfigError with the character where the text is cut short, is no such list, or names more than
/// kMostHostSlots hosts. Lists of any size take little memory: sizes are checked before a name is made.
[[nodiscard]] std::vector<std::string> expand_node_list(std::string_view text);

/// Expands Slurm's form of tasks per host, as in SLURM_TASKS_PER_NODE: "2(x3),1" is 2, 2, 2 and 1. ConfigError as
/// expand_node_list().
[[nodiscard]] std::vector<std::int64_t> expand_tasks_per_node(std::string_view text);

/// Reads lines of "host" or "host:slots". Text after # is a comment; empty lines do not count. A host that comes again
/// adds its slots, so the file of PBS_NODEFILE, with a line for each process, is one as well. ConfigError with the
/// number of the line.
/// @param what name of the file, for errors
[[nodiscard]] HostList parse_host_lines(std::string_view text, std::string_view what);

/// The hosts that `source` names: "slurm" (SLURM_JOB_NODELIST and SLURM_TASKS_PER_NODE), "pbs" (the file that
/// PBS_NODEFILE names), or another file. ConfigError where a variable is missing or a list cannot be read.
/// @param environment "NAME=value" of all variables
[[nodiscard]] HostList hosts_from(const std::string& source, const std::vector<std::string>& environment);

/// Keeps the first `ranks` slots; 0: all. ConfigError where there are fewer.
[[nodiscard]] HostList first_slots(HostList hosts, std::int64_t ranks);
/// Number of ranks of all hosts.
[[nodiscard]] std::int64_t slots_of(const HostList& hosts);
/// The form of --hosts: "a:2,b:2".
[[nodiscard]] std::string text_of(const HostList& hosts);
/// The reverse, of a text that require_hosts() (mpirun_command.h) accepts.
[[nodiscard]] HostList parse_hosts(std::string_view text);

}  // namespace roentgen::cli
