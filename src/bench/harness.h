// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Functions that every benchmark case uses: repetition after a warm-up, statistics of times, check of the result, and
// description of machine and program.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"

namespace roentgen::bench {

/// Numbers of repetitions and threads of a case.
struct CaseOptions {
  /// Number of warm-up runs (at least 0) and of measured runs (at least 1).
  std::int64_t warmup = 3;
  std::int64_t repeats = 20;
  /// Number of compute threads; 0: runtime::default_compute_threads(). Single-threaded cases ignore it.
  int threads = 0;
};

using Clock = std::chrono::steady_clock;
[[nodiscard]] inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Statistics of a set of times, in the unit of the times.
struct Summary {
  double median = 0.0;  ///< mean of the two middle times if their number is even
  double p95 = 0.0;     ///< 95th percentile, nearest-rank method
  double min = 0.0;
  double max = 0.0;
};
/// Computes the statistics of `times`, which must not be empty.
[[nodiscard]] Summary summarise(std::span<const double> times);
/// Returns a percentile by the nearest-rank method: the smallest time such that `percent`% of the times do not exceed
/// it. `times` must not be empty; 0 < percent <= 100.
[[nodiscard]] double percentile(std::span<const double> times, std::int64_t percent);
/// Returns a table {median, p95, min, max} in milliseconds.
[[nodiscard]] Value summary_ms(std::span<const double> seconds);

/// Raw measurements as an array, for the entry `samples` of a result.
[[nodiscard]] Value samples_of(std::span<const double> values);
/// Returns the measurements in an array of samples_of().
[[nodiscard]] std::vector<double> measurements_in(const Value& samples);

/// Advice at the end of every warning about a busy machine.
inline constexpr std::string_view kBusyAdvice = "the machine was busy: measure again when it is quiet";
/// Returns a warning such as "the slowest `what` took 1.30 times the fastest; the machine was busy: ...". nullopt if
/// the ratio is at most 1.25. `times` must not be empty.
[[nodiscard]] std::optional<std::string> sign_of_spread(std::string_view what, std::span<const double> times);

/// Function that a case measures, with a check of its result.
struct CaseWork {
  /// Runs one repetition. Returns the seconds to count, or a negative number to count the whole call.
  std::function<double()> run;
  /// Checks the computed result after the last repetition. Throws Error if it is wrong; returns its checksum.
  std::function<std::string()> check;
  /// Amount of work in one repetition, and its unit: {2.0e6, "pixels"} gives "pixels_per_s".
  double amount = 0.0;
  std::string unit;
  /// Further entries for the result table.
  Value facts;
};
/// Runs the warm-up and the measured repetitions, then checks the result. Returns a table: case, facts, warmup, n, ms
/// {median, p95, min, max}, <unit>_per_s (by the median), checksum, samples {run_s} and the environment's entries.
/// Throws ConfigError if an option is out of range.
[[nodiscard]] Value measure(std::string_view name, const CaseOptions& options, const CaseWork& work);

/// Throws ConfigError that names the option and the bound if `value` < `least`.
void require_at_least(std::string_view option, std::int64_t value, std::int64_t least);
/// Returns the number of compute threads for the value of --threads; 0 gives runtime::default_compute_threads(). Throws
/// ConfigError if `asked` is negative. Also throws if it exceeds the hardware threads of the process, unless
/// `may_oversubscribe`, because threads that share a core give meaningless times.
[[nodiscard]] int threads_of(std::int64_t asked, bool may_oversubscribe);
/// Adds the entries of io::environment_report() to a result: program (with its commit), cpu, ...; and `machine`, the
/// inventory that doctor::take_inventory() takes without loading a library.
void add_environment(Value& result);
/// Returns a checksum of the bytes as 16 hex digits.
[[nodiscard]] std::string checksum(std::span<const std::byte> bytes);

}  // namespace roentgen::bench
