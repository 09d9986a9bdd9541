// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Another program, run to its end.
#pragma once

#include <string>
#include <vector>

namespace roentgen::bench {

/// How a program ended, and what it wrote (of each stream at most the first 16 MiB).
struct ChildResult {
  /// Exit status, 128 + signal for a killed one.
  int code = 0;
  std::string out;
  std::string err;
};

/// Runs `command` (looked for in PATH unless it has a slash), without input, and waits for it. DeviceError when it
/// cannot be started. Thread-safe.
[[nodiscard]] ChildResult run_child(const std::vector<std::string>& command);

}  // namespace roentgen::bench
