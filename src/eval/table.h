// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Table of an evaluation: AUROC of every label, other requested metrics, and means, with intervals from the same
// resamples. Also its formats for terminal and JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "eval/bootstrap.h"
#include "eval/estimate.h"
#include "eval/metric.h"
#include "eval/operating_points.h"
#include "eval/predictions.h"

namespace roentgen::eval {

/// Results of one label.
struct LabelResult {
  std::string label{};         ///< name of the label
  Estimate auroc{};            ///< AUROC with its confidence interval
  std::int64_t positives = 0;  ///< number of images with the label
  /// Number of images whose truth is known for this label.
  std::int64_t n = 0;
};

/// One metric for all labels.
struct MetricColumn {
  Metric metric{};  ///< the metric
  /// (K) values by label.
  std::vector<Estimate> labels{};
  /// Mean over the labels that are defined, computed like EvalTable::mean.
  Estimate mean{};
  std::int64_t labels_in_mean = 0;  ///< number of labels in the mean
};

/// Top-k accuracy: share of images whose true label is among the k most probable labels (top_k.h).
struct TopAccuracy {
  std::int64_t k = 1;   ///< number of most probable labels
  Estimate accuracy{};  ///< share of images, with its confidence interval
};

/// Results of an evaluation: AUROC of every label, other requested metrics, and means.
struct EvalTable {
  std::vector<LabelResult> labels{};  ///< rows in the order of the predictions
  /// Mean over the labels that are defined. Its interval uses the same resamples as the labels. Resamples in which one
  /// of the averaged labels is undefined are ignored. There is no interval if an averaged label has too few patients
  /// for an interval (estimate.h).
  Estimate mean{};
  std::int64_t labels_in_mean = 0;  ///< number of labels in the mean
  std::int64_t images = 0;          ///< number of images evaluated
  std::int64_t patients = 0;        ///< number of distinct patients of these images
  BootstrapOptions bootstrap{};     ///< settings of the resamples
  /// Requested metrics besides AUROC, in the order of the request. Without `points`, metrics that need a threshold or
  /// temperature are omitted.
  std::vector<MetricColumn> metrics{};
  /// Top-1 accuracy for Exclusive outputs, and top-5 if there are more than five labels. Only if metrics were
  /// requested.
  std::vector<TopAccuracy> top{};
  /// Thresholds and temperature that were passed to evaluate().
  std::optional<OperatingPoints> points{};

  /// Returns the column of a metric, or null.
  [[nodiscard]] const MetricColumn* find(Metric metric) const;
};

/// Metrics besides AUROC that evaluate() computes.
struct MetricRequest {
  std::vector<Metric> metrics{};  ///< metrics besides AUROC
  /// Thresholds and temperature from validation data, constant in all resamples. Without it, metrics that need a
  /// threshold or temperature are omitted, because these must not be fitted on the evaluated images.
  std::optional<OperatingPoints> points{};
};

/// Computes the table. The result is the same for any number of threads and any order of images. Takes O(K N log N),
/// and O(replicates K N) per metric. Throws as check_predictions(), check_options() and thresholds_for() do.
[[nodiscard]] EvalTable evaluate(const Predictions& predictions, const BootstrapOptions& options = {},
                                 const MetricRequest& request = {});

/// Returns a text table for a terminal: AUROC, AUPRC if present, and prevalence. Footnotes name undefined labels, the
/// method and what was omitted. Ends with a newline.
[[nodiscard]] std::string to_text(const EvalTable& table);

/// Returns text tables like to_text() for the metrics that to_text() does not show; empty if there are none.
[[nodiscard]] std::string details_text(const EvalTable& table);

/// Returns the table for JSON; "metrics", "points" and "top" only when present. Undefined values are null, with the
/// reason next to them as "undefined". "left_out" counts resamples in which a value was undefined. "no_interval"
/// ("mean_no_interval") is the reason for a missing interval.
///   {"auroc": {"mean", "mean_low", "mean_high", "labels_in_mean", "labels_total",
///              "labels": {name: {"auroc", "low", "high", "positives", "n", "prevalence"}}},
///    "bootstrap": {"method", "level", "replicates", "seed", "patients"},
///    "metrics": {key: {"mean", "mean_low", "mean_high", "labels_in_mean", "labels": {name: {"value", "low",
///    "high"}}}},
///    "points", "top": {"1": {"value", "low", "high"}}}
[[nodiscard]] Value to_value(const EvalTable& table);

}  // namespace roentgen::eval
