// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tables of the time of an executable's runs, by kind of kernel and by layer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/value.h"

namespace roentgen::engine {
class Executable;
struct EntryTime;
}  // namespace roentgen::engine

namespace roentgen::bench {

class Floor;

/// Runs since the executable's last reset_profile().
struct ProfiledRuns {
  std::int64_t count = 1;
  /// Time of all entries, and the part of an optimizer, if there was one.
  double total_s = 0.0;
  std::optional<double> optimizer_s;
};

/// Times of the entries in those runs: as the executable counted them if it runs on the host. On a device each entry is
/// run again, alone, and counts as often as there were runs. This overwrites the step's values.
[[nodiscard]] std::vector<engine::EntryTime> times_of(engine::Executable& executable, const ProfiledRuns& runs,
                                                      bool is_host);

/// [{kind, calls, ms, share, gflops, gb_per_s}] for each run, most expensive first; then the optimizer and what was
/// outside of kernels. Shares add up to 1; rates are null where nothing is counted.
[[nodiscard]] Value profile_table(const engine::Executable& executable, std::span<const engine::EntryTime> times,
                                  const ProfiledRuns& runs);

/// [{name, kind, implementation, ms, best_ms, floor_ms, gflops}] for each plan entry in `times`, in plan order. ms and
/// best_ms are mean and best time in a run; gflops is the rate at the best time. floor_ms is the best time alone (null
/// where `floor` has none, or is null).
[[nodiscard]] Value layer_table(const engine::Executable& executable, std::span<const engine::EntryTime> times,
                                const Floor* floor);

/// `amount` a second, null unless both are above 0.
[[nodiscard]] Value rate(double amount, double seconds);

}  // namespace roentgen::bench
