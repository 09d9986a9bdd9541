// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Detects forked processes. Threads do not survive a fork, and OpenMP hangs in the child if the parent has used it.
#pragma once

#include <string_view>

namespace roentgen::python {

/// Remembers the process that created an object with threads. Thread-safe.
class OwnProcess {
 public:
  OwnProcess();
  /// True in the process that created this object.
  [[nodiscard]] bool is_here() const;
  /// Throws ConfigError in a process forked from the creating process.
  /// @param what name of the object in the error text
  void require(std::string_view what) const;

 private:
  int process_;
};

/// Checks that this process may use threads; call it before it computes or creates a loader. Throws ConfigError in a
/// process forked from one that has used threads. The child lacks these threads, and locks held at the fork stay
/// locked. Thread-safe.
void require_threads();

}  // namespace roentgen::python
