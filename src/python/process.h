// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Forked processes: threads do not survive a fork, and an OpenMP team that the parent had makes the child hang.
#pragma once

#include <string_view>

namespace roentgen::python {

/// The process that an object with threads was made in. Thread-safe.
class OwnProcess {
 public:
  OwnProcess();
  /// Is this that process?
  [[nodiscard]] bool is_here() const;
  /// ConfigError in a process forked from it.
  /// @param what name of the object for users
  void require(std::string_view what) const;

 private:
  int process_;
};

/// To be called before this process computes or makes a loader: ConfigError where one that it was forked from has done
/// so. Its threads are gone, and what they held locked at the fork stays locked. Thread-safe.
void require_threads();

}  // namespace roentgen::python
