// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Explains why not all ranks have started or ended. The process that started the ranks reports it, because MPI_Init
// and MPI_Finalize wait without a time limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "dist/launch_board.h"

namespace roentgen::cli {

/// Whether ranks may run on hosts other than this one.
enum class OtherHosts : std::uint8_t { No, Yes };

/// True if a rank of this host is stopped (SIGSTOP), or if ranks of other hosts are not seen. Otherwise all ranks that
/// could be missing are running, so a start that takes long is only slow.
[[nodiscard]] bool has_missing_ranks(const dist::LaunchBoard& board, std::int64_t ranks, OtherHosts others);

/// Returns one line that names the ranks whose process is stopped (SIGSTOP). If there are none, names the ranks that
/// have not started. Sees only this host.
[[nodiscard]] std::string late_start_text(const dist::LaunchBoard& board, std::int64_t ranks,
                                          std::chrono::milliseconds limit, OtherHosts others);

/// Returns one line about an mpirun that is still running `limit` after rank 0 has ended. It names the ranks whose
/// process is stopped (SIGSTOP). If there are none, it names the ranks on other hosts.
[[nodiscard]] std::string late_end_text(const dist::LaunchBoard& board, std::int64_t ranks,
                                        std::chrono::milliseconds limit, OtherHosts others);

/// Returns one line that says that mpirun has started no rank within `limit`, with the known causes.
[[nodiscard]] std::string no_start_text(std::chrono::milliseconds limit);

}  // namespace roentgen::cli
