// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Where the time of an executable's runs went, by kind of kernel.
#pragma once

#include <cstdint>
#include <optional>

#include "core/value.h"

namespace roentgen::engine {
class Executable;
}

namespace roentgen::bench {

/// Runs since the executable's last reset_profile().
struct ProfiledRuns {
  std::int64_t count = 1;
  /// All of their time, and what of it an optimizer took, if there was one.
  double total_s = 0.0;
  std::optional<double> optimizer_s;
};

/// [{kind, calls, ms, share, gflops, gb_per_s}] for each run, most expensive first; then the optimizer and what was
/// outside of kernels. Shares add up to 1; rates are null where nothing is counted.
[[nodiscard]] Value profile_table(const engine::Executable& executable, const ProfiledRuns& runs);

/// `amount` a second, null unless both are above 0.
[[nodiscard]] Value rate(double amount, double seconds);

}  // namespace roentgen::bench
