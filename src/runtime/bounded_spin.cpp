// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "runtime/bounded_spin.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace roentgen::runtime {

void bound_spin(char** arguments) {
  constexpr const char* kSpin = "GOMP_SPINCOUNT";
  constexpr const char* kIsOurs = "ROENTGEN_SPIN_IS_OURS";
  if (std::getenv(kIsOurs) != nullptr) {
    ::unsetenv(kIsOurs);
    ::unsetenv(kSpin);
    return;
  }
  if (std::getenv(kSpin) != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  // Executes the program's resolved path, because the system takes the name of the process from this path.
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error || ::setenv(kIsOurs, "1", 1) != 0 || ::setenv(kSpin, kSpinIterations, 1) != 0) return;
  ::execv(program.c_str(), arguments);
  ::unsetenv(kIsOurs);
  ::unsetenv(kSpin);
}

}  // namespace roentgen::runtime
