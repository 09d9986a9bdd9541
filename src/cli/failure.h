// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What people get of an exception: one line and an exit code.
#pragma once

#include <exception>
#include <string>

namespace roentgen::cli {

/// A failure as it is reported.
struct Failure {
  /// One line.
  std::string text;
  /// kBadInput for what the user can mend, else kFailure.
  int exit_code = 1;
};

/// Of any exception, ours or not.
[[nodiscard]] Failure failure_of(const std::exception_ptr& error);

}  // namespace roentgen::cli
