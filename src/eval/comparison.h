// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Two models on the same images: the difference of their AUROCs per label and of the means, paired, with interval and p
// from one set of resamples.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "eval/bootstrap.h"
#include "eval/predictions.h"
#include "eval/table.h"

namespace roentgen::eval {

/// AUROC of A and of B and what lies between them. Undefined where a class is absent, in all three alike: the truth is
/// the same.
struct Difference {
  std::string label{};
  Estimate a{};
  Estimate b{};
  /// b - a, resampled as a pair: A and B are scored on the same patients in every resample.
  Estimate delta{};
  /// Two-sided, of "no difference": bootstrap_p(). Nothing where delta has no interval.
  std::optional<double> p{};
  std::int64_t positives = 0;
  /// Images whose truth is known for this label.
  std::int64_t n = 0;
};

/// All labels and their mean.
struct Comparison {
  std::vector<Difference> labels{};
  /// Over the labels that are defined, as EvalTable::mean; from the same resamples. positives and n are 0.
  Difference mean{};
  std::int64_t labels_in_mean = 0;
  std::int64_t images = 0;
  std::int64_t patients = 0;
  BootstrapOptions bootstrap{};
};

/// Two-sided p of "the difference is 0" from resampled differences, the interval's inversion: with n of them,
/// min(1, 2 (1 + min(#{d <= 0}, #{d >= 0})) / (n + 1)). The 1 keeps p above 0: it is never below 2 / (n + 1) (Davison &
/// Hinkley 1997, 4.11). Nothing for fewer than two.
[[nodiscard]] std::optional<double> bootstrap_p(const std::vector<double>& differences);

/// Compares B with A. Both hold the same images in the same order with the same labels, truth and patients: DataError
/// otherwise, and as check_predictions(). A pure function, the same for any thread count. O(replicates K N).
[[nodiscard]] Comparison compare(const Predictions& a, const Predictions& b, const BootstrapOptions& options);

/// A table for a terminal with the method below it. Ends with a newline.
[[nodiscard]] std::string to_text(const Comparison& comparison);

/// "label,auroc_a,auroc_b,delta,low,high,p,positives,n", the mean last; empty where undefined.
[[nodiscard]] std::string to_csv(const Comparison& comparison);

/// {"mean": ROW, "labels_in_mean", "labels_total", "labels": {name: ROW}, "images", "patients", "bootstrap": {...}}
/// with ROW = {"a", "b", "delta": {"value", "low", "high"}, "p"}, and "positives", "n" of a label. Undefined: null.
[[nodiscard]] Value to_value(const Comparison& comparison);

}  // namespace roentgen::eval
