// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tables of the time that an executable spends in each kind of kernel and in each layer.
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

/// Number of runs since the executable's last reset_profile(), and their time.
struct ProfiledRuns {
  std::int64_t count = 1;
  /// Time of all runs; below, the time in the optimizer (nullopt without an optimizer).
  double total_s = 0.0;
  std::optional<double> optimizer_s;
};

/// Returns the times of the plan's entries (kernel calls) in the profiled runs. On a CPU, the executable has recorded
/// them. On a GPU, each entry is run again alone, and its time is multiplied by the number of runs. This overwrites the
/// values of the step.
[[nodiscard]] std::vector<engine::EntryTime> times_of(engine::Executable& executable, const ProfiledRuns& runs,
                                                      bool is_host);

/// Returns a table [{kind, calls, ms, share, gflops, gb_per_s}] per run, most expensive kind of kernel first. The last
/// rows are the optimizer and the time outside of kernels. Shares add up to 1; a rate is null if the amount of work is
/// unknown.
[[nodiscard]] Value profile_table(const engine::Executable& executable, std::span<const engine::EntryTime> times,
                                  const ProfiledRuns& runs);

/// Returns a table [{name, kind, implementation, ms, best_ms, floor_ms, gflops}] with a row for each plan entry in
/// `times`, in plan order. ms and best_ms are the mean and best time in a run; gflops is the rate at the best time.
/// floor_ms is the best time of the entry alone; null if `floor` is null or has no time for it.
[[nodiscard]] Value layer_table(const engine::Executable& executable, std::span<const engine::EntryTime> times,
                                const Floor* floor);

/// Returns `amount` per second; null unless `amount` and `seconds` are above 0.
[[nodiscard]] Value rate(double amount, double seconds);

}  // namespace roentgen::bench
