// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Estimate: a value with its confidence interval, or the reason why it has no interval. Intervals from very few
// patients are not valid, nor are intervals from resamples in which the value is often undefined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/value.h"
#include "eval/bootstrap.h"
#include "eval/figure.h"
#include "eval/predictions.h"

namespace roentgen::eval {

/// Smallest number of patients with a finding, and without it, for which the finding gets an interval and a p-value.
inline constexpr std::int64_t kFewestPatients = 5;
/// Largest share of resamples in which a value may be undefined. Beyond it, the value gets no interval and no p-value.
inline constexpr double kMostUndefined = 0.10;

/// Reason why a finding has no interval. Written like the reasons in figure.h.
inline constexpr std::string_view kFewPatients = "fewer than 5 patients have the finding, or lack it";
/// Reason why the mean over findings has no interval.
inline constexpr std::string_view kMeanOfFewPatients = "a finding in it has too few patients";
/// Reason why a finding or mean has no interval.
inline constexpr std::string_view kOftenUndefined = "undefined in more than 10% of the resamples";

/// Value with its confidence interval.
struct Estimate {
  /// Value; nullopt if it is undefined for the reason in `reason`.
  std::optional<double> value{};
  /// Interval. Nullopt if the value is undefined, without resamples, with a single patient, or for the reason in
  /// `no_interval`.
  std::optional<Interval> interval{};
  /// Number of resamples in which the value was undefined. The interval ignores them.
  std::int64_t replicates_left_out = 0;
  /// Reason why the value is undefined, a constant of figure.h; empty if it is defined.
  std::string_view reason{};
  /// Reason why a defined value has no interval, a constant of this file; empty if it has an interval or the reason
  /// needs no mention.
  std::string_view no_interval{};
};

/// True if fewer than kFewestPatients patients have the finding, or fewer than kFewestPatients do not have it. Counts
/// only images whose truth for label number `label` is known.
[[nodiscard]] bool has_few_patients(const Predictions& predictions, std::size_t label, const Clusters& clusters);

/// Returns `value` with the percentile interval of a column of `replicates`.
/// @param replicates resamples; no interval if columns = 0
/// @param few reason why there are too few patients for an interval; empty if there are enough
[[nodiscard]] Estimate estimate_from(double value, const Replicates& replicates, std::size_t column, double level,
                                     std::string_view few);

/// Returns the table {`key`: value, low, high}; entries are null if undefined.
[[nodiscard]] Value estimate_value(const Estimate& estimate, std::string_view key);
/// Adds the keys undefined, left_out and no_interval to a table of estimate_value(), which say why entries are null.
void add_gaps(Value& row, const Estimate& estimate);

}  // namespace roentgen::eval
