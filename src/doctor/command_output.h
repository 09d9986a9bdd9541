// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs a short program and returns its output.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace roentgen::doctor {

/// Runs a program without a shell and returns what it writes to standard output. Its standard input and standard error
/// are /dev/null. Returns nullopt if it cannot be started or its exit code is not 0. Kills a program that runs longer
/// than `limit`, and returns nullopt. Thread-safe.
/// @param command name, looked up on the PATH, and arguments
[[nodiscard]] std::optional<std::string> command_output(const std::vector<std::string>& command,
                                                        std::chrono::milliseconds limit);

}  // namespace roentgen::doctor
