// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Effect of a threshold: the confusion matrix, sensitivity and similar rates, and the points of the ROC and
// precision-recall curves. Also the criteria that choose a threshold. A sample is called positive if its score is at or
// above the threshold. Thresholds are chosen on the validation split (operating_points.h), never on the test split.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "eval/figure.h"
#include "eval/score_counts.h"

namespace roentgen::eval {

/// Confusion matrix: numbers of samples by true label and by predicted label at a threshold.
struct Confusion {
  std::int64_t true_positives = 0;   ///< positives called positive
  std::int64_t false_positives = 0;  ///< negatives called positive
  std::int64_t false_negatives = 0;  ///< positives called negative
  std::int64_t true_negatives = 0;   ///< negatives called negative
  friend bool operator==(const Confusion&, const Confusion&) = default;
};

/// Returns the confusion matrix at one threshold. O(G) for G distinct scores.
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

/// Returns the points of the ROC and precision-recall curves. At the first point no sample is called positive. Each
/// distinct score gives one more point, in descending order.
[[nodiscard]] std::vector<CurvePoint> curve_points(const ScoreCounts& counts);

/// Returns the largest sensitivity among the points of the ROC curve whose specificity is at least `level` - 1e-12,
/// without interpolation. Undefined if a class is absent.
[[nodiscard]] Figure sensitivity_at_specificity(const ScoreCounts& counts, double level);
/// Returns the largest specificity among the points of the ROC curve whose sensitivity is at least `level` - 1e-12.
/// Undefined if a class is absent.
[[nodiscard]] Figure specificity_at_sensitivity(const ScoreCounts& counts, double level);

/// Quantity that a chosen threshold maximises.
enum class ThresholdRule : std::uint8_t {
  MaxF1,   ///< F1
  Youden,  ///< sensitivity + specificity - 1 (Youden 1950)
};
/// Returns the name of the criterion: "f1" or "youden".
[[nodiscard]] std::string_view name_of(ThresholdRule rule);
/// Parses the name of a criterion. Throws ConfigError listing the known names.
[[nodiscard]] ThresholdRule parse_threshold_rule(std::string_view text);

/// Returns the score that maximises the criterion as threshold; the highest such score if several are equally good.
/// Nullopt if a class is absent.
[[nodiscard]] std::optional<double> choose_threshold(const ScoreCounts& counts, ThresholdRule rule);

}  // namespace roentgen::eval
