// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Starts mpirun, forwards signals to it, waits for it, and reports which rank a signal ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace roentgen::cli {

/// Effect on the ranks of a signal to the waiting program.
enum class OnSignal : std::uint8_t {
  /// Ranks save their state, once all of them can, and stop; a second signal ends them at once.
  Save,
  /// Ranks end at once.
  End,
};

struct GroupOptions {
  OnSignal on_signal = OnSignal::End;
  /// Their standard output is discarded.
  bool is_silent = false;
  std::int64_t ranks = 1;
  /// Lines of ranks begin with their tags: rank_guard.h.
  bool is_tagged = false;
  /// Rank 0 may be on another host, from where it cannot tell us anything.
  bool may_be_remote = false;
  /// Time limit for all ranks to start; then the missing ones are named and the group is ended. MPI_Init has no limit
  /// of its own. 0: none.
  std::chrono::milliseconds to_start{0};
  /// Time limit for the first rank to start; then mpirun is ended. Only ranks on this host are seen. 0: none.
  std::chrono::milliseconds to_begin{0};
  /// Time limit for mpirun after rank 0 has reported its end; then it is ended. MPI_Finalize has no limit of its own.
  std::chrono::milliseconds after_end{30'000};
};

/// End of a group of processes.
struct GroupEnd {
  /// Exit code of rank 0, where it or mpirun has reported one.
  int exit_code = 0;
  /// Signal that asked for the end; 0: none.
  int signal = 0;
  /// errno of the first write to standard output that failed; 0: none.
  int output_error = 0;
  /// First line that named the cause of a failure, as it was printed; empty: none.
  std::string cause{};
};

/// Runs mpirun and waits for it. Prints a line when a signal ended a rank or mpirun itself. Prints one also when ranks
/// did not start in time, or when mpirun failed before they started. Ranks report all other failures themselves.
/// SIGINT, SIGTERM, SIGUSR1, SIGHUP and SIGQUIT are handled as `options` say while it runs, and as before afterwards.
/// Throws ConfigError where there is no mpirun that can be run.
/// @param command program and arguments
[[nodiscard]] GroupEnd run_group(const std::vector<std::string>& command, const GroupOptions& options);

}  // namespace roentgen::cli
