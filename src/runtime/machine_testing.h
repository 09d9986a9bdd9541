// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests: machines that hwloc makes up.
#pragma once

#include <cstdlib>
#include <string>

namespace roentgen::runtime {

/// Shows hwloc another machine than this one while it lives. One thread.
class MadeUpMachine {
 public:
  /// @param text description in hwloc's syntax, such as "pack:2 [numa] core:4 pu:1"
  explicit MadeUpMachine(const std::string& text) { ::setenv("HWLOC_SYNTHETIC", text.c_str(), 1); }
  ~MadeUpMachine() { ::unsetenv("HWLOC_SYNTHETIC"); }
  MadeUpMachine(const MadeUpMachine&) = delete;
  MadeUpMachine& operator=(const MadeUpMachine&) = delete;
};

}  // namespace roentgen::runtime
