// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reasons why not all ranks have started. The process that started them reports it, since MPI_Init waits without a
// limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "dist/launch_board.h"

namespace roentgen::cli {

/// One line that names the ranks of this host whose process is stopped; else those that have not begun here; else none.
/// `ranks`: number of ranks.
[[nodiscard]] std::string late_start_text(const dist::LaunchBoard& board, std::int64_t ranks,
                                          std::chrono::milliseconds limit);

/// One line for an mpirun that has started no rank within `limit`, with known causes.
[[nodiscard]] std::string no_start_text(std::chrono::milliseconds limit);

}  // namespace roentgen::cli
