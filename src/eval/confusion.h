// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Effect of a threshold: counts of right and wrong calls, the rates made of them, and the points of the ROC and
// precision-recall curves. Also the rules by which a threshold is chosen. A sample is called positive when its score is
// at or above the threshold. Thresholds are chosen on validation and used on test (operating_points.h), never chosen on
// test.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "eval/figure.h"
#include "eval/score_counts.h"

namespace roentgen::eval {

/// Confusion matrix: numbers of samples by truth and by the call at a threshold.
struct Confusion {
  std::int64_t true_positives = 0;   ///< positives called positive
  std::int64_t false_positives = 0;  ///< negatives called positive
  std::int64_t false_negatives = 0;  ///< positives called negative
  std::int64_t true_negatives = 0;   ///< negatives called negative
  friend bool operator==(const Confusion&, const Confusion&) = default;
};

/// Confusion matrix at one threshold. O(G).
[[nodiscard]] Confusion confusion_at(const ScoreCounts& counts, double threshold);

/// Sensitivity tp / (tp + fn): the share of positives that are called positive. Undefined without positives.
[[nodiscard]] Figure sensitivity(const Confusion& confusion);
/// Specificity tn / (tn + fp): the share of negatives that are called negative. Undefined without negatives.
[[nodiscard]] Figure specificity(const Confusion& confusion);
/// Positive predictive value (precision), tp / (tp + fp). Undefined if no sample is called positive.
[[nodiscard]] Figure positive_predictive_value(const Confusion& confusion);
/// Negative predictive value, tn / (tn + fn). Undefined if all samples are called positive.
[[nodiscard]] Figure negative_predictive_value(const Confusion& confusion);
/// F1 score, 2 tp / (2 tp + fp + fn). Undefined without positives.
[[nodiscard]] Figure f1(const Confusion& confusion);

/// One point of the ROC and the precision-recall curve.
struct CurvePoint {
  /// Threshold; +infinity at the first point, where no sample is called positive.
  double threshold = 0.0;
  Confusion confusion{};  ///< counts at that threshold
};

/// Points of the ROC and precision-recall curves. At the first point no sample is called positive. One point follows
/// for each distinct score that occurs, in descending order.
[[nodiscard]] std::vector<CurvePoint> curve_points(const ScoreCounts& counts);

/// Largest sensitivity among the points of the ROC curve whose specificity is at least `level`, equal up to 1e-12.
/// There is no interpolation. It describes the curve; it does not choose a threshold for later use. Undefined if a
/// class is absent.
[[nodiscard]] Figure sensitivity_at_specificity(const ScoreCounts& counts, double level);
/// Largest specificity among the points of the ROC curve whose sensitivity is at least `level`, equal up to 1e-12.
/// Undefined if a class is absent.
[[nodiscard]] Figure specificity_at_sensitivity(const ScoreCounts& counts, double level);

/// Quantity that a chosen threshold maximises.
enum class ThresholdRule : std::uint8_t {
  MaxF1,   ///< F1
  Youden,  ///< sensitivity + specificity - 1 (Youden 1950)
};
/// Name of the rule: "f1" or "youden".
[[nodiscard]] std::string_view name_of(ThresholdRule rule);
/// Parses the name of a rule. Throws ConfigError listing the known names.
[[nodiscard]] ThresholdRule parse_threshold_rule(std::string_view text);

/// Chooses the score with the best value of the rule as threshold; if several are equal, the highest score. Returns
/// nullopt if a class is absent.
[[nodiscard]] std::optional<double> choose_threshold(const ScoreCounts& counts, ThresholdRule rule);

}  // namespace roentgen::eval
