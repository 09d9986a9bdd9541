// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares two models, or two recipes by several seeds of each, on the same images. Gives the paired difference of
// their AUROCs per label and of the means, with interval and p from one set of resamples.
//
// Recipes: a value is the mean over the recipe's seeds. Seeds are treated like readers in multi-reader multi-case
// studies of ROC curves, each reader under one modality alone (Obuchowski & Rockette 1995; Hillis 2007, 2014):
//   var(B - A) = s_A² / n_A + s_B² / n_B + max(0, c_AA + c_BB - 2 c_AB)
//   s²:           variance (n - 1) of the AUROC over the n seeds of a recipe
//   c_AA (c_BB):  covariance of two seeds of A (B) under resampling of patients
//   c_AB:         covariance of a seed of A with one of B; all c are means over all such pairs, from one patient
//   bootstrap
// Interval and p are Student's t with
//   dof = var² / (sum over A, B of (s² / n)² / (n - 1)).
// The variance of A alone is s_A² / n_A + max(0, c_AA). A percentile bootstrap that draws seeds as well is not used. It
// ignores how few they are, and rejects equal recipes of three seeds twice as often as stated
// (docs/reference/comparison.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "eval/bootstrap.h"
#include "eval/predictions.h"
#include "eval/table.h"

namespace roentgen::eval {

/// AUROC of A and of B, means over their seeds, and their difference. All three are undefined where a class is absent.
struct Difference {
  std::string label{};  ///< name; of the mean empty
  Estimate a{};         ///< AUROC of A
  Estimate b{};         ///< AUROC of B
  /// b - a, resampled as a pair: A and B are scored on the same patients in every resample.
  Estimate delta{};
  /// Two-sided, of "no difference": bootstrap_p(), or student_t_p() over seeds. Nothing where delta has no interval.
  std::optional<double> p{};
  /// Standard deviation (n - 1) over the seeds; nothing for one.
  std::optional<double> sd_a{};
  std::optional<double> sd_b{};  ///< standard deviation of B
  /// Degrees of freedom of Student's t, may be infinite; nullopt where intervals do not cover seeds.
  std::optional<double> dof{};
  std::int64_t positives = 0;  ///< images with the label
  /// Images whose truth is known for this label.
  std::int64_t n = 0;
};

/// All labels and their mean.
struct Comparison {
  std::vector<Difference> labels{};  ///< rows in the order of the predictions
  /// Mean over the labels that are defined, as EvalTable::mean, from the same resamples. positives and n are 0.
  Difference mean{};
  std::int64_t labels_in_mean = 0;  ///< labels that the mean is over
  std::int64_t images = 0;          ///< images compared
  std::int64_t patients = 0;        ///< distinct patients among them
  BootstrapOptions bootstrap{};     ///< options of the resamples
  std::int64_t seeds_a = 1;         ///< models of A
  std::int64_t seeds_b = 1;         ///< models of B
  /// True: intervals and p compare recipes, over seeds and patients. False: they compare these models, over patients.
  [[nodiscard]] bool covers_seeds() const { return seeds_a > 1 && seeds_b > 1; }
};

/// Two-sided p of "the difference is 0" from resampled differences, the interval's inversion. With n of them it is
///   min(1, 2 (1 + min(#{d <= 0}, #{d >= 0})) / (n + 1)).
/// The added 1 keeps p at 2 / (n + 1) or above (Davison & Hinkley 1997, 4.11). nullopt for fewer than two.
[[nodiscard]] std::optional<double> bootstrap_p(const std::vector<double>& differences);

/// Compares B with A. Both hold the same images in the same order with the same labels, truth and patients: DataError
/// otherwise, and as check_predictions(). A pure function, the same for any thread count. O(replicates K N).
[[nodiscard]] Comparison compare(const Predictions& a, const Predictions& b, const BootstrapOptions& options);

/// Compares the recipe of the models `b` with that of `a`: one model per seed, at least one each, trained
/// independently. With only one seed on a side, the intervals cover patients alone, for the mean over the given seeds.
/// With one model each, equals the other compare(). Throws as compare().
[[nodiscard]] Comparison compare(std::span<const Predictions> a, std::span<const Predictions> b,
                                 const BootstrapOptions& options);

/// A table for a terminal with the method below it. Ends with a newline.
[[nodiscard]] std::string to_text(const Comparison& comparison);

/// "label,auroc_a,auroc_b,delta,low,high,p,positives,n", the mean last; empty where undefined.
[[nodiscard]] std::string to_csv(const Comparison& comparison);

/// Returns the comparison for JSON. Undefined values are null ("dof" null: infinite); "no_interval" is the reason for
/// no interval and no p. "sd_a", "sd_b" and "dof" only over seeds; "positives" and "n" only of a label.
///   {"mean": ROW, "labels_in_mean", "labels_total", "labels": {name: ROW}, "images", "patients", "seeds": {"a", "b"},
///    "intervals_cover": "patients" or "seeds and patients", "bootstrap": {...}}
///   ROW = {"a", "b", "delta": {"value", "low", "high"}, "p", "sd_a", "sd_b", "dof", "positives", "n"}
[[nodiscard]] Value to_value(const Comparison& comparison);

}  // namespace roentgen::eval
