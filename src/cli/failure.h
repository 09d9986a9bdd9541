// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Turns an exception into one line for people and an exit code.
#pragma once

#include <exception>
#include <string>

namespace roentgen::cli {

/// A failure that another process has reported already.
class ToldError : public std::exception {
 public:
  explicit ToldError(int exit_code) : exit_code_(exit_code) {}
  [[nodiscard]] const char* what() const noexcept override { return "told before"; }
  [[nodiscard]] int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// A failure as it is reported.
struct Failure {
  /// Text of one line; empty: it was printed already.
  std::string text;
  /// kBadInput for input that the user can correct, else kFailure.
  int exit_code = 1;
};

/// Failure for any exception, ours or not.
[[nodiscard]] Failure failure_of(const std::exception_ptr& error);

}  // namespace roentgen::cli
