// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Command lines for mpirun, which differ between MPI libraries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::cli {

/// Environment variable that tells a process that roentgen started it, and that it may divide the cores among the
/// ranks.
inline constexpr const char* kStartedByUs = "ROENTGEN_RANKS";

/// Description of a group of processes to start.
struct GroupStart {
  /// Name of the MPI library's family (dist::MpiLibrary::family).
  std::string_view mpi = "openmpi";
  std::int64_t ranks = 1;
  /// Hosts with numbers of ranks, such as "a:2,b:2"; empty: all ranks on this host.
  std::string hosts;
  bool is_root = false;
  /// All environment variables of this process as "NAME=value". Other hosts get only those that the program and its
  /// libraries read.
  std::vector<std::string> environment{};
  /// True if mpirun kills the ranks at once after a failure, without first letting them clean up. Only Open MPI's
  /// mpirun can; it otherwise waits for two seconds.
  bool is_killed_at_once = false;
};

/// Throws ConfigError unless `hosts` is a list of names separated by commas, each with or without a number of ranks:
/// "a:2,b".
void require_hosts(const std::string& hosts);

/// Command line that runs `command` (program and arguments) under mpirun. Finds mpirun by mpirun_program() on the PATH
/// in `environment`.
[[nodiscard]] std::vector<std::string> mpirun_command(const GroupStart& start, const std::vector<std::string>& command);
/// Returns the path of mpirun for the MPI family `mpi`: `mpirun` on `path` if it belongs to that family, else
/// `mpirun.<mpi>`.
/// @param path folders separated by colons
[[nodiscard]] std::string mpirun_program(std::string_view mpi, std::string_view path);

/// Returns the command line without some options and their values.
/// @param arguments program and arguments
/// @param options names such as "--ranks"
[[nodiscard]] std::vector<std::string> without_options(const std::vector<std::string>& arguments,
                                                       const std::vector<std::string>& options);

}  // namespace roentgen::cli
