// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/bootstrap.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <string>
#include <thread>

#include "core/error.h"
#include "core/random.h"

namespace roentgen::eval {

void check_options(const BootstrapOptions& options) {
  const auto refuse = [](const char* what, const char* expected, const std::string& got) {
    throw ConfigError(error_text("eval.bootstrap", what, expected, got, "a value in this range"));
  };
  if (options.replicates < 0) refuse("replicates", "0 or more", std::to_string(options.replicates));
  if (!(options.level > 0.0 && options.level < 1.0)) refuse("level", "between 0 and 1", std::to_string(options.level));
  if (options.threads < 1) refuse("threads", "1 or more", std::to_string(options.threads));
}

Clusters make_clusters(std::span<const std::int64_t> ids) {
  std::vector<std::int64_t> distinct(ids.begin(), ids.end());
  std::ranges::sort(distinct);
  distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
  Clusters clusters{.index = {}, .count = std::ssize(distinct)};
  clusters.index.reserve(ids.size());
  for (const std::int64_t id : ids) {
    clusters.index.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(distinct, id) - distinct.begin()));
  }
  return clusters;
}

std::vector<std::uint32_t> draw_clusters(std::int64_t clusters, std::uint64_t seed, std::int64_t replicate) {
  std::vector<std::uint32_t> multiplicity(static_cast<std::size_t>(clusters), 0);
  Random random(seed, RandomStage::Bootstrap, static_cast<std::uint64_t>(replicate));
  for (std::int64_t i = 0; i < clusters; ++i) ++multiplicity[random.below(static_cast<std::uint64_t>(clusters))];
  return multiplicity;
}

std::vector<double> Replicates::defined(std::int64_t column) const {
  std::vector<double> kept;
  for (std::size_t i = static_cast<std::size_t>(column); i < values.size(); i += static_cast<std::size_t>(columns)) {
    if (!std::isnan(values[i])) kept.push_back(values[i]);
  }
  return kept;
}

Replicates bootstrap(std::int64_t clusters, std::int64_t columns, const Statistic& statistic,
                     const BootstrapOptions& options) {
  check_options(options);
  RG_ASSERT(columns > 0);
  Replicates result{.columns = columns, .values = {}};
  result.values.assign(static_cast<std::size_t>(options.replicates * columns),
                       std::numeric_limits<double>::quiet_NaN());
  if (clusters == 0) return result;

  // Each thread takes the next resample until all are done, and writes only the row of its resample.
  const std::int64_t threads = std::min<std::int64_t>(options.threads, std::max<std::int64_t>(options.replicates, 1));
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(threads));
  std::atomic<std::int64_t> next = 0;
  const auto work = [&](std::int64_t thread) {
    try {
      for (std::int64_t replicate = next++; replicate < options.replicates; replicate = next++) {
        const auto row = std::span(result.values)
                             .subspan(static_cast<std::size_t>(replicate * columns), static_cast<std::size_t>(columns));
        statistic(draw_clusters(clusters, options.seed, replicate), row);
        if (thread == 0 && options.on_replicate) options.on_replicate();
      }
    } catch (...) {
      next = options.replicates;  // makes other threads stop after their current resample
      failures[static_cast<std::size_t>(thread)] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::int64_t thread = 1; thread < threads; ++thread) helpers.emplace_back(work, thread);
    work(0);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return result;
}

double quantile(std::span<const double> sorted, double p) {
  RG_ASSERT(!sorted.empty() && p >= 0.0 && p <= 1.0);
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::optional<Interval> percentile_interval(std::vector<double> values, double level) {
  if (values.size() < 2) return std::nullopt;
  std::ranges::sort(values);
  return Interval{.low = quantile(values, (1.0 - level) / 2.0), .high = quantile(values, (1.0 + level) / 2.0)};
}

}  // namespace roentgen::eval
