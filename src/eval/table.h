// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The AUROC table: every label's AUROC with its interval, their mean, and how it is printed and stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/value.h"
#include "eval/bootstrap.h"
#include "eval/predictions.h"

namespace roentgen::eval {

/// A figure with its interval. Undefined when the label has one class only.
struct Estimate {
  std::optional<double> value{};
  /// Absent when the value is, without replicates, with one patient only, or when no two replicates were defined.
  std::optional<Interval> interval{};
  /// Replicates in which the figure was undefined: left out of the interval.
  std::int64_t replicates_left_out = 0;
};

/// One row of the table.
struct LabelResult {
  std::string label{};
  Estimate auroc{};
  std::int64_t positives = 0;
  /// Images whose truth is known for this label.
  std::int64_t n = 0;
};

/// AUROC of every label and their mean.
struct EvalTable {
  std::vector<LabelResult> labels{};
  /// Mean over the labels that are defined; its replicates come from the same resamples, and those in which any of
  /// these labels is undefined are left out, so that all of them average the same labels.
  Estimate mean{};
  std::int64_t labels_in_mean = 0;
  std::int64_t images = 0;
  std::int64_t patients = 0;
  BootstrapOptions bootstrap{};
};

/// Computes the table. A pure function: same figures for any thread count and any order of images. O(K N log N) and
/// O(replicates K N). Throws as check_predictions() and check_options().
[[nodiscard]] EvalTable evaluate(const Predictions& predictions, const BootstrapOptions& options = {});

/// The table for a terminal: plain text, aligned, with footnotes naming undefined labels, the method and what was left
/// out. Ends with a newline.
[[nodiscard]] std::string to_text(const EvalTable& table);

/// {"auroc": {"mean", "mean_low", "mean_high", "labels_in_mean", "labels_total", "labels": {name: {"auroc", "low",
/// "high", "positives", "n"}}}}; what is undefined is null.
[[nodiscard]] Value to_value(const EvalTable& table);

}  // namespace roentgen::eval
