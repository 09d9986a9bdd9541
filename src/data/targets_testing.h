// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Helper for tests of vector code: runs them on every instruction set that is compiled in and that this machine has.
#pragma once

#include <hwy/targets.h>

#include <cstdint>

namespace roentgen::data {

/// Runs test(name) once for each instruction set. Not thread-safe.
template <typename Test>
void on_every_target(Test test) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    test(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace roentgen::data
