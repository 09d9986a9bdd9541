// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// EmulatedCards: number of CUDA devices that the program under test finds.
#pragma once

#include <cstdlib>
#include <string>

namespace roentgen::e2e {

/// Sets the number of emulated GPUs for programs that start during its lifetime. For use by one thread.
class EmulatedCards {
 public:
  explicit EmulatedCards(int count) {
    if (const char* const before = std::getenv(kName)) before_ = before;
    ::setenv(kName, std::to_string(count).c_str(), 1);
  }
  /// Restores the previous number.
  ~EmulatedCards() {
    if (before_.empty()) {
      ::unsetenv(kName);
    } else {
      ::setenv(kName, before_.c_str(), 1);
    }
  }
  EmulatedCards(const EmulatedCards&) = delete;
  EmulatedCards& operator=(const EmulatedCards&) = delete;

 private:
  static constexpr const char* kName = "ROENTGEN_EMULATED_CARDS";
  std::string before_;
};

}  // namespace roentgen::e2e
