// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Estimate: a value with its interval, and the rule of when there is no interval. A bootstrap knows only the patients
// it draws from, so a handful of patients gives no valid interval. Neither do resamples of which some are undefined.
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

/// A finding that fewer patients have, or fewer lack, gets no interval and no p.
inline constexpr std::int64_t kFewestPatients = 5;
/// A value that is undefined in a larger share of the resamples gets no interval and no p, either.
inline constexpr double kMostUndefined = 0.10;

/// Reasons for a missing interval, in the form of the reasons of figure.h.
inline constexpr std::string_view kFewPatients = "fewer than 5 patients have the finding, or lack it";
inline constexpr std::string_view kMeanOfFewPatients = "a finding in it has too few patients";  ///< reason for a mean
/// Reason for any figure.
inline constexpr std::string_view kOftenUndefined = "undefined in more than 10% of the resamples";

/// A value with its interval.
struct Estimate {
  /// Value; nullopt where it is undefined, and `reason` says why.
  std::optional<double> value{};
  /// Absent when the value is, without replicates, with one patient only, and where `no_interval` says why.
  std::optional<Interval> interval{};
  /// Replicates in which the figure was undefined: left out of the interval.
  std::int64_t replicates_left_out = 0;
  /// A constant of figure.h; empty when defined.
  std::string_view reason{};
  /// One of the constants above; empty where there is an interval, or no value at all.
  std::string_view no_interval{};
};

/// True when the images of known truth for label number `label`, with or without the finding, are of fewer than
/// kFewestPatients patients.
[[nodiscard]] bool has_few_patients(const Predictions& predictions, std::size_t label, const Clusters& clusters);

/// `value` with the percentile interval of a column of `replicates`.
/// @param replicates of columns = 0: no interval
/// @param few empty, or why there are too few patients for an interval
[[nodiscard]] Estimate estimate_from(double value, const Replicates& replicates, std::size_t column, double level,
                                     std::string_view few);

/// Table {`key`: value, low, high}, each null where there is none.
[[nodiscard]] Value estimate_value(const Estimate& estimate, std::string_view key);
/// Adds to such a table what is known of a gap: undefined, left_out, no_interval.
void add_gaps(Value& row, const Estimate& estimate);

}  // namespace roentgen::eval
