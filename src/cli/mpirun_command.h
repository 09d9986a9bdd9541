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

/// Variable that tells a process that roentgen started it and that it may divide the cores.
inline constexpr const char* kStartedByUs = "ROENTGEN_RANKS";

/// Description of a group of processes to start.
struct GroupStart {
  /// Family of the MPI library, dist::MpiLibrary::family.
  std::string_view mpi = "openmpi";
  std::int64_t ranks = 1;
  /// a:2,b:2; empty: all ranks on this host.
  std::string hosts;
  bool is_root = false;
  /// "NAME=value" for all variables of this process. Other hosts get those that the program and its libraries read.
  std::vector<std::string> environment{};
};

/// ConfigError unless they are names with commas between, each with a number of ranks or none: "a:2,b:2".
void require_hosts(const std::string& hosts);

/// The command line that runs `command` (program and arguments), with mpirun_program() of the PATH in `environment`.
[[nodiscard]] std::vector<std::string> mpirun_command(const GroupStart& start, const std::vector<std::string>& command);
/// Path of the mpirun of `mpi`: `mpirun` on `path` if it belongs to that MPI, else `mpirun.<mpi>`.
/// @param path folders with colons between
[[nodiscard]] std::string mpirun_program(std::string_view mpi, std::string_view path);

/// Returns the arguments without some options and their values.
/// @param arguments program and arguments
/// @param options as "--ranks"
[[nodiscard]] std::vector<std::string> without_options(const std::vector<std::string>& arguments,
                                                       const std::vector<std::string>& options);

}  // namespace roentgen::cli
