// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Forked processes: threads do not survive a fork, and an OpenMP team that the parent had makes the child hang.
#pragma once

#include <string_view>

namespace roentgen::python {

/// The process that created an object with threads. Thread-safe.
class OwnProcess {
 public:
  OwnProcess();
  /// Whether this is the process that created it.
  [[nodiscard]] bool is_here() const;
  /// Throws ConfigError in a process forked from the one that created it.
  /// @param what name of the object for users
  void require(std::string_view what) const;

 private:
  int process_;
};

/// Must be called before this process computes or creates a loader. Throws ConfigError in a process forked from one
/// that has done so. Its threads are missing, and locks held at the fork stay locked. Thread-safe.
void require_threads();

}  // namespace roentgen::python
