// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Why ranks are not all up: told by the process that started them, since MPI_Init waits for all without a limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "dist/launch_board.h"

namespace roentgen::cli {

/// One line that names, of `ranks`, those of this host whose process stands still; else those that have not begun
/// here; else none.
[[nodiscard]] std::string late_start_text(const dist::LaunchBoard& board, std::int64_t ranks,
                                          std::chrono::milliseconds limit);

/// One line for an mpirun that has begun no rank within `limit`, with what is known to stop it.
[[nodiscard]] std::string no_start_text(std::chrono::milliseconds limit);

}  // namespace roentgen::cli
