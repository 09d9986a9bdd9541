// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs mpirun, forwards signals to it, waits for it, and reports which rank was ended by a signal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace roentgen::cli {

class HeldSignals;

/// Reaction of the ranks to a signal that the waiting program receives.
enum class OnSignal : std::uint8_t {
  /// Ranks save their state and stop, as soon as all ranks handle the signal. A second signal ends them at once.
  Save,
  /// Ranks end at once.
  End,
};

struct GroupOptions {
  OnSignal on_signal = OnSignal::End;
  /// Signals that the caller holds already; null: they are held while mpirun runs.
  const HeldSignals* signals = nullptr;
  /// True if --resume continues the ranks' work after a failure.
  bool has_resume = false;
  /// True if the ranks' standard output is discarded.
  bool is_silent = false;
  std::int64_t ranks = 1;
  /// True if each output line of a rank begins with its tag, see tagged_output.h.
  bool is_tagged = false;
  /// True if rank 0 may run on another host, where it does not share memory with this process.
  bool may_be_remote = false;
  /// True if ranks run on hosts other than this one, as far as their names tell.
  bool has_other_hosts = false;
  /// Time limit for all ranks to connect. It begins when the first rank of this host begins to connect. When it
  /// expires, an error names the ranks that are stopped or have no process on this host, and all ranks are ended.
  /// Needed because MPI_Init has no time limit. If no rank is missing, `to_begin` is the limit. 0: no limit.
  std::chrono::milliseconds to_start{0};
  /// Time limit for the first rank of this host to begin to connect; then mpirun is ended. If all ranks run on other
  /// hosts, the limit applies to their start. 0: no limit.
  std::chrono::milliseconds to_begin{0};
  /// Time limit for mpirun to end after rank 0 has reported its end; then mpirun is ended. Needed because MPI_Finalize
  /// has no time limit.
  std::chrono::milliseconds after_end{30'000};
};

/// How a group of ranks ended.
struct GroupEnd {
  /// Exit code of the rank that failed first, else of rank 0, else of mpirun.
  int exit_code = 0;
  /// Signal to this process that requested the end; 0: none.
  int signal = 0;
  /// errno of the first write to standard output that failed; 0: none.
  int output_error = 0;
  /// First printed line that named the cause of a failure; empty: none.
  std::string cause{};
};

/// Runs mpirun and waits for it. Prints a line if a signal ended a rank or mpirun, ranks did not start in time, or
/// mpirun failed before they started. Ranks report all other failures themselves. While it runs, SIGINT, SIGTERM,
/// SIGUSR1, SIGHUP and SIGQUIT are handled as `options` define; then the previous handlers return. Throws ConfigError
/// if mpirun is missing or cannot be run.
/// @param command program and arguments
[[nodiscard]] GroupEnd run_group(const std::vector<std::string>& command, const GroupOptions& options);

}  // namespace roentgen::cli
