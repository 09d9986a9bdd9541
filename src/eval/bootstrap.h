// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Bootstrap over clusters (patients): whole patients are drawn with replacement. Images of one patient are not
// independent, so an interval over images would be too narrow. It works with any statistic of a multiplicity per
// cluster. One resample serves all labels, their mean and the difference of two runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace roentgen::eval {

/// Settings of the intervals.
struct BootstrapOptions {
  /// 0: no intervals.
  std::int64_t replicates = 1000;
  std::uint64_t seed = 0;  ///< seed of the resamples
  /// Probability the interval is meant to cover.
  double level = 0.95;
  /// Threads that share the replicates; the result does not depend on it.
  int threads = 1;
  /// Called by the calling thread after each of its resamples; may throw to end the work. May be empty.
  std::function<void()> on_replicate{};
};

/// Throws ConfigError on replicates < 0, a level outside (0, 1) or threads < 1.
void check_options(const BootstrapOptions& options);

/// Cluster of each sample, renumbered 0 ... count - 1 in ascending order of the ids. So neither the order of samples
/// nor gaps in the ids change a resample.
struct Clusters {
  std::vector<std::uint32_t> index;  ///< (samples)
  std::int64_t count = 0;            ///< number of clusters
};
/// Cluster of every sample by its id.
[[nodiscard]] Clusters make_clusters(std::span<const std::int64_t> ids);

/// One resample: the number of times each of `clusters` clusters is drawn, summing to `clusters`. A pure function of
/// (clusters, seed, replicate).
[[nodiscard]] std::vector<std::uint32_t> draw_clusters(std::int64_t clusters, std::uint64_t seed,
                                                       std::int64_t replicate);

/// Fills `values` (columns) from the multiplicity of each cluster; NaN = undefined under this resample. Called from
/// several threads at once, so it must not write anything else.
using Statistic = std::function<void(std::span<const std::uint32_t> multiplicity, std::span<double> values)>;

/// Values of a statistic's columns over the replicates.
struct Replicates {
  std::int64_t columns = 0;  ///< values of a replicate
  /// (replicates, columns), NaN = undefined
  std::vector<double> values;

  /// Defined values of one column, in the order of the replicates.
  [[nodiscard]] std::vector<double> defined(std::int64_t column) const;
};

/// Evaluates `statistic` on options.replicates resamples of `clusters` clusters. Bit-identical for any thread count.
/// An exception of the statistic or of options.on_replicate ends the work and is rethrown here.
[[nodiscard]] Replicates bootstrap(std::int64_t clusters, std::int64_t columns, const Statistic& statistic,
                                   const BootstrapOptions& options);

/// A two-sided interval.
struct Interval {
  double low = 0.0;   ///< lower end
  double high = 0.0;  ///< upper end
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Quantile p in [0, 1] of ascending values, linear between order statistics (Hyndman & Fan 1996, type 7: numpy's
/// default). `sorted` is not empty.
[[nodiscard]] double quantile(std::span<const double> sorted, double p);

/// Percentile interval (Efron 1979): the (1 - level)/2 and (1 + level)/2 quantiles. Nothing for fewer than two values.
[[nodiscard]] std::optional<Interval> percentile_interval(std::vector<double> values, double level);

}  // namespace roentgen::eval
