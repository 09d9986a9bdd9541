// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts an exception into one line for people and an exit code.
#pragma once

#include <exception>
#include <string>

namespace roentgen::cli {

/// Thrown for a failure that another process has already reported.
class ToldError : public std::exception {
 public:
  explicit ToldError(int exit_code) : exit_code_(exit_code) {}
  [[nodiscard]] const char* what() const noexcept override { return "told before"; }
  [[nodiscard]] int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// Text and exit code with which the program reports a failure.
struct Failure {
  /// Error text of one line; empty if it was printed already.
  std::string text;
  /// kBadInput if the user can correct the input, else kFailure.
  int exit_code = 1;
};

/// Returns the report of an exception of any type.
[[nodiscard]] Failure failure_of(const std::exception_ptr& error);

}  // namespace roentgen::cli
