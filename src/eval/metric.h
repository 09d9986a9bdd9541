// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Metric: a figure of one label by name, so that tables, intervals and JSON treat all of them alike.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "eval/confusion.h"
#include "eval/figure.h"
#include "eval/metric_list.h"
#include "eval/score_counts.h"

namespace roentgen::eval {

#define RG_METRIC_ENUMERATOR(name, key, title, needs, classes) name,
/// A line of metric_list.h.
enum class Metric : std::uint8_t { RG_METRIC_LIST(RG_METRIC_ENUMERATOR) };
#undef RG_METRIC_ENUMERATOR

/// Inputs of a metric.
enum class MetricNeeds : std::uint8_t {
  Counts,       ///< the label's scores alone
  Threshold,    ///< also a threshold from validation
  Temperature,  ///< the scores scaled by a temperature from validation
};

/// Classes that a metric depends on.
enum class MetricClasses : std::uint8_t {
  Apart,   ///< depends on one class, or compares both: as reliable as the rarer class is large
  Pooled,  ///< a mean over all images, whatever their class
};

/// Names of a metric.
struct MetricInfo {
  Metric metric{};  ///< metric that is described
  /// Key in JSON: "auprc".
  std::string_view key;
  /// Title in tables: "AUPRC".
  std::string_view title;
  MetricNeeds needs{};      ///< inputs of the metric
  MetricClasses classes{};  ///< classes that the metric depends on
};

/// All metrics, in the order of Metric.
[[nodiscard]] std::span<const MetricInfo> metrics();
/// Key, title and needs of a metric.
[[nodiscard]] const MetricInfo& info_of(Metric metric);
/// All metrics, as a request.
[[nodiscard]] std::vector<Metric> all_metrics();

/// One label under one resample.
struct MetricInput {
  const ScoreCounts& counts;  ///< the label's samples by score
  /// Counts at the label's threshold; null: it has none.
  const Confusion* confusion = nullptr;
  /// Samples by scaled score; null: no temperature.
  const ScoreCounts* scaled = nullptr;
};

/// The value; undefined where an input is missing.
[[nodiscard]] Figure measure(Metric metric, const MetricInput& input);

}  // namespace roentgen::eval
