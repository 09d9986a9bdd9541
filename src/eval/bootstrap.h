// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Bootstrap over clusters (patients): whole patients are drawn with replacement. Images of one patient are not
// independent, so an interval over images would be too narrow. Any statistic can be resampled that is a function of the
// number of times each cluster was drawn. All labels, their mean and the differences of two runs use the same
// resamples.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace roentgen::eval {

/// Settings of bootstrap confidence intervals.
struct BootstrapOptions {
  /// Number of resamples; 0 for no intervals.
  std::int64_t replicates = 1000;
  std::uint64_t seed = 0;  ///< seed of the random resamples
  /// Confidence level: probability that the interval contains the true value.
  double level = 0.95;
  /// Number of threads. The result does not depend on it.
  int threads = 1;
  /// Called in the calling thread after each resample that this thread computes; empty: not called. May throw to end
  /// the work.
  std::function<void()> on_replicate{};
};

/// Throws ConfigError if replicates < 0, level is outside (0, 1) or threads < 1.
void check_options(const BootstrapOptions& options);

/// Cluster (patient) of each sample. Clusters are renumbered 0 ... count - 1 in ascending order of their ids. So
/// neither the order of samples nor gaps in the ids change a resample.
struct Clusters {
  std::vector<std::uint32_t> index;  ///< (samples) cluster of each sample
  std::int64_t count = 0;            ///< number of clusters
};
/// Numbers the clusters of all samples in ascending order of ids.
[[nodiscard]] Clusters make_clusters(std::span<const std::int64_t> ids);

/// Draws one resample and returns how often each of `clusters` clusters is drawn; the sum is `clusters`. Depends only
/// on (clusters, seed, replicate).
[[nodiscard]] std::vector<std::uint32_t> draw_clusters(std::int64_t clusters, std::uint64_t seed,
                                                       std::int64_t replicate);

/// Computes the statistics of one resample into `values` (columns). `multiplicity` is how often each cluster was drawn.
/// NaN means undefined in this resample. Several threads call the function at once, so it may write only `values`.
using Statistic = std::function<void(std::span<const std::uint32_t> multiplicity, std::span<double> values)>;

/// Values of all statistics in all resamples.
struct Replicates {
  std::int64_t columns = 0;  ///< number of statistics per resample
  /// (replicates, columns); NaN means undefined.
  std::vector<double> values;

  /// Returns the defined values of one column, in the order of the resamples.
  [[nodiscard]] std::vector<double> defined(std::int64_t column) const;
};

/// Evaluates `statistic` on options.replicates resamples of `clusters` clusters. The result is bit-identical for any
/// number of threads. If `statistic` or options.on_replicate throws, the work ends and the exception is rethrown.
[[nodiscard]] Replicates bootstrap(std::int64_t clusters, std::int64_t columns, const Statistic& statistic,
                                   const BootstrapOptions& options);

/// Two-sided confidence interval.
struct Interval {
  double low = 0.0;   ///< lower end
  double high = 0.0;  ///< upper end
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Returns quantile p in [0, 1] of ascending values, with linear interpolation (Hyndman & Fan 1996, type 7: numpy's
/// default). `sorted` is not empty.
[[nodiscard]] double quantile(std::span<const double> sorted, double p);

/// Percentile interval (Efron 1979): the (1 - level)/2 and (1 + level)/2 quantiles. Returns nullopt for fewer than two
/// values.
[[nodiscard]] std::optional<Interval> percentile_interval(std::vector<double> values, double level);

}  // namespace roentgen::eval
