// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Metric: a figure of one label, identified by name, so that tables, intervals and JSON handle all metrics in the same
// way.
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
/// One constant for each line of metric_list.h.
enum class Metric : std::uint8_t { RG_METRIC_LIST(RG_METRIC_ENUMERATOR) };
#undef RG_METRIC_ENUMERATOR

/// Inputs that a metric needs.
enum class MetricNeeds : std::uint8_t {
  Counts,       ///< only the label's scores
  Threshold,    ///< also a threshold chosen on validation data
  Temperature,  ///< scores scaled by a temperature fitted on validation data
};

/// Classes on which a metric depends. It determines how many patients an interval needs.
enum class MetricClasses : std::uint8_t {
  Apart,   ///< depends on one class or compares two; needs enough patients of the rarer class
  Pooled,  ///< mean over all images of both classes
};

/// Description of a metric.
struct MetricInfo {
  Metric metric{};  ///< the described metric
  /// Key in JSON, as "auprc".
  std::string_view key;
  /// Title in tables, as "AUPRC".
  std::string_view title;
  MetricNeeds needs{};      ///< inputs that the metric needs
  MetricClasses classes{};  ///< classes on which the metric depends
};

/// Returns the descriptions of all metrics, in the order of the enumeration Metric.
[[nodiscard]] std::span<const MetricInfo> metrics();
/// Returns the description of one metric.
[[nodiscard]] const MetricInfo& info_of(Metric metric);
/// Returns all metrics, for MetricRequest.
[[nodiscard]] std::vector<Metric> all_metrics();

/// Inputs of a metric for one label in one resample.
struct MetricInput {
  const ScoreCounts& counts;  ///< numbers of the label's positives and negatives, by score
  /// Confusion matrix at the label's threshold; null without a threshold.
  const Confusion* confusion = nullptr;
  /// Numbers of the label's positives and negatives by temperature-scaled score; null without a temperature.
  const ScoreCounts* scaled = nullptr;
};

/// Computes a metric. The result is undefined if an input that the metric needs is null.
[[nodiscard]] Figure measure(Metric metric, const MetricInput& input);

}  // namespace roentgen::eval
