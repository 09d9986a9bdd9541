// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares two models, or two recipes by several seeds of each, on the same images. Computes the paired difference of
// AUROCs per label and of the mean AUROC, with interval and p-value from the same resamples.
//
// Recipes: a value is the mean over the recipe's seeds. Seeds are treated like readers in multi-reader multi-case
// studies of ROC curves, where each reader uses only one modality (Obuchowski & Rockette 1995; Hillis 2007, 2014):
//   var(B - A) = s_A² / n_A + s_B² / n_B + max(0, c_AA + c_BB - 2 c_AB)
//   s²:           variance (n - 1) of the AUROC over the n seeds of a recipe
//   c_AA (c_BB):  covariance of two seeds of A (B) under resampling of patients
//   c_AB:         covariance of a seed of A with one of B; all c are means over all such pairs, from one patient
//   bootstrap
// Interval and p are Student's t with
//   dof = var² / (sum over A, B of (s² / n)² / (n - 1)).
// The variance of A alone is s_A² / n_A + max(0, c_AA). A percentile bootstrap that also draws seeds is not used. With
// few seeds its intervals are too narrow: it rejects equal recipes with three seeds twice as often as stated
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

/// AUROCs of A and B (means over their seeds), and the difference B - A. All three are undefined if a class is absent.
struct Difference {
  std::string label{};  ///< name of the label; empty for the mean over labels
  Estimate a{};         ///< AUROC of A
  Estimate b{};         ///< AUROC of B
  /// Difference b - a. Every resample evaluates A and B on the same patients.
  Estimate delta{};
  /// Two-sided p-value for "no difference", from student_t_p() if both recipes have several seeds, else from
  /// bootstrap_p(). Nullopt if delta has no interval.
  std::optional<double> p{};
  /// Standard deviation (n - 1) of A's AUROC over its seeds; nullopt for one seed.
  std::optional<double> sd_a{};
  std::optional<double> sd_b{};  ///< standard deviation of B's AUROC over its seeds
  /// Degrees of freedom of Student's t; may be infinite. Nullopt if covers_seeds() is false.
  std::optional<double> dof{};
  std::int64_t positives = 0;  ///< number of images with the label
  /// Number of images whose truth is known for this label.
  std::int64_t n = 0;
};

/// Result of a comparison: differences for every label and for the mean over labels.
struct Comparison {
  std::vector<Difference> labels{};  ///< one per label, in the order of the predictions
  /// Difference of the mean AUROC over labels, from the same resamples (EvalTable::mean). Its positives and n are 0.
  Difference mean{};
  std::int64_t labels_in_mean = 0;  ///< number of labels in the mean
  std::int64_t images = 0;          ///< number of images compared
  std::int64_t patients = 0;        ///< number of distinct patients of these images
  BootstrapOptions bootstrap{};     ///< settings of the resamples
  std::int64_t seeds_a = 1;         ///< number of models of A, one per seed
  std::int64_t seeds_b = 1;         ///< number of models of B, one per seed
  /// True if intervals and p-values compare two recipes, with variation over seeds and patients. False if they compare
  /// two models, with variation over patients only.
  [[nodiscard]] bool covers_seeds() const { return seeds_a > 1 && seeds_b > 1; }
};

/// Two-sided p-value for "the difference is 0", from n bootstrap differences, by inversion of the percentile interval:
///   min(1, 2 (1 + min(#{d <= 0}, #{d >= 0})) / (n + 1)).
/// The added 1 gives p >= 2 / (n + 1) (Davison & Hinkley 1997, 4.11). Returns nullopt if n < 2.
[[nodiscard]] std::optional<double> bootstrap_p(const std::vector<double>& differences);

/// Compares model B with model A. Throws DataError unless both predict the same images in the same order, with the same
/// labels, truth and patients. Throws as check_predictions() does. The result is the same for any number of threads.
/// O(replicates K N).
[[nodiscard]] Comparison compare(const Predictions& a, const Predictions& b, const BootstrapOptions& options);

/// Compares recipe B with recipe A. Each recipe has one or more models, trained independently with different seeds. If
/// a recipe has only one model, the intervals cover only the variation over patients. With one model per recipe, the
/// result equals compare(Predictions, Predictions). Throws like that function.
[[nodiscard]] Comparison compare(std::span<const Predictions> a, std::span<const Predictions> b,
                                 const BootstrapOptions& options);

/// Returns a text table for a terminal, with an explanation of the method below it. Ends with a newline.
[[nodiscard]] std::string to_text(const Comparison& comparison);

/// Returns CSV text "label,auroc_a,auroc_b,delta,low,high,p,positives,n". The mean is the last row; undefined cells are
/// empty.
[[nodiscard]] std::string to_csv(const Comparison& comparison);

/// Returns the comparison for JSON. Undefined values are null ("dof" null: infinite). "no_interval" is the reason why
/// interval and p are missing. "sd_a", "sd_b" and "dof" exist only for several seeds; "positives" and "n" only for a
/// label.
///   {"mean": ROW, "labels_in_mean", "labels_total", "labels": {name: ROW}, "images", "patients", "seeds": {"a", "b"},
///    "intervals_cover": "patients" or "seeds and patients", "bootstrap": {...}}
///   ROW = {"a", "b", "delta": {"value", "low", "high"}, "p", "sd_a", "sd_b", "dof", "positives", "n"}
[[nodiscard]] Value to_value(const Comparison& comparison);

}  // namespace roentgen::eval
