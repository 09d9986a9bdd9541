// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/harness.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/step_progress.h"
#include "core/error.h"
#include "dist/mpi_library.h"
#include "doctor/inventory.h"
#include "io/environment.h"
#include "io/sha256.h"
#include "runtime/cores.h"
#include "runtime/team.h"

namespace roentgen::bench {

Summary summarise(std::span<const double> times) {
  RG_ASSERT(!times.empty());
  std::vector<double> sorted(times.begin(), times.end());
  std::ranges::sort(sorted);
  const std::size_t n = sorted.size();
  return {.median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2,
          .p95 = percentile(times, 95),
          .min = sorted.front(),
          .max = sorted.back()};
}

double percentile(std::span<const double> times, std::int64_t percent) {
  RG_ASSERT(!times.empty() && percent > 0 && percent <= 100);
  std::vector<double> sorted(times.begin(), times.end());
  std::ranges::sort(sorted);
  // Rounds up in integer arithmetic, because 0.95 * 20 is not exactly 19 in floating point.
  const std::size_t rank = (static_cast<std::size_t>(percent) * sorted.size() + 99) / 100;
  return sorted[rank - 1];
}

Value summary_ms(std::span<const double> seconds) {
  const Summary s = summarise(seconds);
  return Value(
      Value::Table{{"median", s.median * 1e3}, {"p95", s.p95 * 1e3}, {"min", s.min * 1e3}, {"max", s.max * 1e3}});
}

Value samples_of(std::span<const double> values) {
  Value samples = Value::array();
  for (const double value : values) samples.push_back(value);
  return samples;
}

std::vector<double> measurements_in(const Value& samples) {
  std::vector<double> values;
  for (const Value& each : samples.as_array()) values.push_back(each.as_double());
  return values;
}

std::optional<std::string> sign_of_spread(std::string_view what, std::span<const double> times) {
  constexpr double kMostSpread = 1.25;  // equal steps differ by only a few percent on a quiet machine
  const auto [least, most] = std::ranges::minmax(times);
  if (most <= kMostSpread * least) return std::nullopt;
  return fmt::format("the slowest {} took {:.2f} times the fastest; {}", what, most / least, kBusyAdvice);
}

Value measure(std::string_view name, const CaseOptions& options, const CaseWork& work) {
  require_at_least("warmup", options.warmup, 0);
  require_at_least("repeats", options.repeats, 1);
  std::vector<double> seconds;
  RepeatProgress progress(options.warmup + options.repeats);
  for (std::int64_t i = 0; i < options.warmup + options.repeats; ++i) {
    const auto start = Clock::now();
    const double counted = work.run();
    const double all = seconds_since(start);
    if (i >= options.warmup) seconds.push_back(counted < 0.0 ? all : counted);
    progress.add();
  }
  Value result = Value::table();
  result.set("case", name);
  if (work.facts.is_table()) {
    for (const auto& [key, value] : work.facts.as_table()) result.set(key, value);
  }
  result.set("warmup", options.warmup);
  result.set("n", options.repeats);
  result.set("ms", summary_ms(seconds));
  if (!work.unit.empty()) result.set(work.unit + "_per_s", work.amount / summarise(seconds).median);
  result.set("checksum", work.check());
  result.set("samples", Value::Table{{"run_s", samples_of(seconds)}});
  add_environment(result);
  return result;
}

void require_at_least(std::string_view option, std::int64_t value, std::int64_t least) {
  if (value >= least) return;
  throw ConfigError(error_text("bench.options", option, "at least " + std::to_string(least), std::to_string(value),
                               "a larger number"));
}

int threads_of(std::int64_t asked, bool may_oversubscribe) {
  require_at_least("threads", asked, 0);
  const std::int64_t threads = asked > 0 ? asked : runtime::default_compute_threads();
  constexpr std::int64_t kMost = 4096;
  const std::int64_t most = may_oversubscribe ? kMost : runtime::available_hardware_threads();
  if (threads <= most) return runtime::given_team(static_cast<int>(threads));
  throw ConfigError(error_text(
      "bench.options", "threads",
      fmt::format("at most {}{}", most, may_oversubscribe ? "" : ", the cores that this process may use"),
      fmt::to_string(threads), may_oversubscribe ? "fewer" : "fewer --threads, or --oversubscribe to measure anyway"));
}

void add_environment(Value& result) {
  Value report = io::environment_report();
  if (const auto mpi = dist::loaded_mpi()) report.set_path("libraries.mpi", mpi->version);
  for (const auto& [key, value] : report.as_table()) result.set(key, value);
  result.set("machine", doctor::to_value(doctor::take_inventory(*doctor::make_machine_probe(doctor::Effort::Quick))));
}

std::string checksum(std::span<const std::byte> bytes) { return io::fast_hash_hex(bytes).substr(0, 16); }

}  // namespace roentgen::bench
