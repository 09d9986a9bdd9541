// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Statistics: intervals for the difference between two sets of measurements. Ratios are differences of logarithms.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace roentgen::bench {

/// An estimate with its confidence interval.
struct Interval {
  double estimate = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// Interval of mean(b) - mean(a) for independent values, by Welch's t test (Welch 1947). If a side has only one value,
/// both sides are assumed to vary as much as the other one (Student's t test). Nullopt if both have only one.
/// @param level confidence, such as 0.95
[[nodiscard]] std::optional<Interval> difference_of_means(std::span<const double> a, std::span<const double> b,
                                                          double level);

/// Interval of the mean of paired differences by Student's t test. Nullopt for fewer than two.
[[nodiscard]] std::optional<Interval> mean_of_differences(std::span<const double> differences, double level);

/// Interval of the centre of paired differences by Wilcoxon's signed-rank test (Hollander & Wolfe 1999, 3.1 to 3.3).
/// The estimate is Hodges and Lehmann's, the median of all Walsh averages. The ends are the outermost Walsh averages
/// that the exact distribution of the rank sum does not reject. Assumes a symmetric distribution of the differences.
/// Two outliers among 20 hardly move it. Nullopt for fewer differences than least_pairs(); at most 200 differences.
[[nodiscard]] std::optional<Interval> centre_of_differences(std::span<const double> differences, double level);

/// Smallest number of pairs n for which centre_of_differences() has an interval: 2 / 2^n <= 1 - level.
[[nodiscard]] std::size_t least_pairs(double level);

/// Means of ten blocks of equal length, the rest belongs to the last one. Consecutive steps of a run are correlated, so
/// that their number overstates how much is known; means of long blocks are nearly independent. Returns the values
/// themselves if there are fewer than 20.
[[nodiscard]] std::vector<double> block_means(std::span<const double> values);

}  // namespace roentgen::bench
