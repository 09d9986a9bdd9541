// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Table of an evaluation: every label's AUROC and, on request, its other metrics, and their means. All have intervals
// from the same resamples. Also how it is printed and stored.
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

/// One row of the table.
struct LabelResult {
  std::string label{};         ///< name
  Estimate auroc{};            ///< AUROC with its interval
  std::int64_t positives = 0;  ///< images with the label
  /// Images whose truth is known for this label.
  std::int64_t n = 0;
};

/// One metric of all labels.
struct MetricColumn {
  Metric metric{};  ///< metric of the column
  /// (K)
  std::vector<Estimate> labels{};
  /// Mean over the labels that are defined, as EvalTable::mean.
  Estimate mean{};
  std::int64_t labels_in_mean = 0;  ///< labels that the mean is over
};

/// Share of images whose true label is among the k most probable ones (top_k.h).
struct TopAccuracy {
  std::int64_t k = 1;   ///< most probable labels that are looked at
  Estimate accuracy{};  ///< share, with its interval
};

/// AUROC of every label, other figures where asked for, and their means.
struct EvalTable {
  std::vector<LabelResult> labels{};  ///< rows in the order of the predictions
  /// Mean over the labels that are defined. Its replicates come from the same resamples. Replicates in which any of
  /// these labels is undefined are left out, so that all average the same labels. No interval where one of these labels
  /// has too few patients for its own (estimate.h).
  Estimate mean{};
  std::int64_t labels_in_mean = 0;  ///< labels that the mean is over
  std::int64_t images = 0;          ///< images evaluated
  std::int64_t patients = 0;        ///< distinct patients among them
  BootstrapOptions bootstrap{};     ///< options of the resamples
  /// Metrics that were asked for beside AUROC, in that order; without points, less those that need them.
  std::vector<MetricColumn> metrics{};
  /// Top-1 of Exclusive outputs, and top-5 with more than five labels. Only when metrics were asked for.
  std::vector<TopAccuracy> top{};
  /// Thresholds and temperature that were given.
  std::optional<OperatingPoints> points{};

  /// The column of a metric, or null.
  [[nodiscard]] const MetricColumn* find(Metric metric) const;
};

/// Metrics besides AUROC that evaluate() computes.
struct MetricRequest {
  std::vector<Metric> metrics{};  ///< metrics besides AUROC
  /// Operating points from validation, held fixed over the resamples. Without them there are no metrics at a threshold
  /// and none of scaled scores: neither is ever fitted on the evaluated predictions.
  std::optional<OperatingPoints> points{};
};

/// Computes the table. A pure function: same figures for any thread count and any order of images. O(K N log N) and
/// O(replicates K N) for each metric. Throws as check_predictions(), check_options() and thresholds_for().
[[nodiscard]] EvalTable evaluate(const Predictions& predictions, const BootstrapOptions& options = {},
                                 const MetricRequest& request = {});

/// The table for a terminal: AUROC, AUPRC when there, prevalence; plain text, aligned, with footnotes naming undefined
/// labels, the method and what was left out. Ends with a newline.
[[nodiscard]] std::string to_text(const EvalTable& table);

/// All other metrics in further tables of the same form; empty when there are none.
[[nodiscard]] std::string details_text(const EvalTable& table);

/// Returns the table for JSON; "metrics", "points" and "top" only when present. Undefined values are null, with the
/// reason next to them as "undefined". "left_out" counts replicates that were left out. "no_interval"
/// ("mean_no_interval") is the reason for a missing interval.
///   {"auroc": {"mean", "mean_low", "mean_high", "labels_in_mean", "labels_total",
///              "labels": {name: {"auroc", "low", "high", "positives", "n", "prevalence"}}},
///    "bootstrap": {"method", "level", "replicates", "seed", "patients"},
///    "metrics": {key: {"mean", "mean_low", "mean_high", "labels_in_mean", "labels": {name: {"value", "low",
///    "high"}}}},
///    "points", "top": {"1": {"value", "low", "high"}}}
[[nodiscard]] Value to_value(const EvalTable& table);

}  // namespace roentgen::eval
