// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parts of every benchmark case: repetition after a warm-up, summaries of times, a checked answer, and a description of
// machine and program. A case that gives a wrong answer throws, because its time would mean nothing.
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

/// Numbers of repetitions and of threads.
struct CaseOptions {
  /// warm-up runs, and measured runs; at least 0 and 1.
  std::int64_t warmup = 3;
  std::int64_t repeats = 20;
  /// Compute threads; 0 = runtime::default_compute_threads(). Cases of one thread ignore it.
  int threads = 0;
};

using Clock = std::chrono::steady_clock;
[[nodiscard]] inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Order statistics of times, in their own unit.
struct Summary {
  double median = 0.0;  ///< mean of the two middle ones for an even number
  double p95 = 0.0;     ///< nearest rank: the smallest time that 95% do not exceed
  double min = 0.0;
  double max = 0.0;
};
/// Summary of at least one time.
[[nodiscard]] Summary summarise(std::span<const double> times);
/// The smallest of at least one time that `percent` of them do not exceed (nearest rank), 0 < percent <= 100.
[[nodiscard]] double percentile(std::span<const double> times, std::int64_t percent);
/// Table {median, p95, min, max} in milliseconds.
[[nodiscard]] Value summary_ms(std::span<const double> seconds);

/// Advice that warnings of a busy machine end with.
inline constexpr std::string_view kBusyAdvice = "the machine was busy: measure again when it is quiet";
/// "the slowest `what` took 1.30 times the fastest; the machine was busy: ..." where that is over 1.25 times; `times`
/// not empty.
[[nodiscard]] std::optional<std::string> sign_of_spread(std::string_view what, std::span<const double> times);

/// Function to measure.
struct CaseWork {
  /// Runs one repetition. Returns the seconds to count, or a negative number to count all of it.
  std::function<double()> run;
  /// Called after the last repetition: checks the answer, throws Error when it is wrong, returns its checksum.
  std::function<std::string()> check;
  /// Amount of one repetition and its unit: {2.0e6, "pixels"} gives "pixels_per_s".
  double amount = 0.0;
  std::string unit;
  /// Result table of a measurement.
  Value facts;
};
/// Warms up, measures, checks. The result, a table: case, facts, warmup, n, ms {median, p95, min, max},
/// <unit>_per_s (by the median), checksum and the environment's entries. ConfigError on options out of range.
[[nodiscard]] Value measure(std::string_view name, const CaseOptions& options, const CaseWork& work);

/// ConfigError naming option and bound unless `value` >= `least`.
void require_at_least(std::string_view option, std::int64_t value, std::int64_t least);
/// Compute threads for what was asked: 0 is runtime::default_compute_threads(). ConfigError below 0, and, unless
/// `may_oversubscribe`, beyond the hardware threads of the process: times of a team that waits for itself mean nothing.
[[nodiscard]] int threads_of(std::int64_t asked, bool may_oversubscribe);
/// Adds the entries of io::environment_report(): program (with its commit), cpu, ...
void add_environment(Value& result);
/// 16 hex digits over the bytes: equal answers, equal checksums.
[[nodiscard]] std::string checksum(std::span<const std::byte> bytes);

}  // namespace roentgen::bench
