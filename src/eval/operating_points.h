// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Operating points: one threshold per label and one temperature for all labels, fitted on the validation split. A JSON
// file stores them (docs/reference/formats/points.md), so that later evaluations use them unchanged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "eval/confusion.h"
#include "eval/predictions.h"

namespace roentgen::eval {

/// Thresholds and temperature fitted on validation data, and the origin of that data. Plain value.
struct OperatingPoints {
  ThresholdRule rule = ThresholdRule::MaxF1;  ///< criterion that chose the thresholds
  /// (K) names of the labels.
  std::vector<std::string> label_names{};
  /// (K) thresholds; a score at or above the threshold is called positive. Nullopt if the validation split had only one
  /// class.
  std::vector<std::optional<double>> thresholds{};
  /// Temperature that divides all logits; nullopt if the fit has no minimum.
  std::optional<double> temperature{};
  /// Number of validation images.
  std::int64_t images = 0;
  std::int64_t patients = 0;  ///< number of distinct validation patients
  std::string list_sha256{};  ///< hash of the validation image names; empty if not known
  /// Unit for which the model has one score: "image", or "study, max" and "study, mean" after merge_studies().
  /// Thresholds for one unit cannot be used for another.
  std::string unit = "image";
  /// Description of the model's preprocessing and test-time augmentation; empty if not known (predictions from a file).
  std::string input{};
  /// SHA-256 of the weights that gave the scores; empty if not known (predictions from a file).
  std::string weights_sha256{};
  friend bool operator==(const OperatingPoints&, const OperatingPoints&) = default;
};

/// Chooses thresholds and temperature on validation predictions. Throws as check_predictions() does.
[[nodiscard]] OperatingPoints fit_operating_points(const Predictions& validation, ThresholdRule rule);

/// Returns the thresholds of `label_names`, matched by name. Throws ConfigError if `points` lacks one of the labels.
[[nodiscard]] std::vector<std::optional<double>> thresholds_for(const OperatingPoints& points,
                                                                const std::vector<std::string>& label_names);

inline constexpr std::string_view kPointsFormat = "roentgen-points-1";  ///< value of the key "format"

/// Converts to a table for JSON: {"format", "rule", "thresholds": {label: number or null}, "temperature", "unit",
/// "fitted_on": {"images", "patients", "list_sha256"}}. Contains "input" and "weights_sha256" if known.
[[nodiscard]] Value to_value(const OperatingPoints& points);
/// Parses the table. Throws ConfigError naming the key and `what` (the file).
[[nodiscard]] OperatingPoints points_from_value(const Value& value, std::string_view what);

}  // namespace roentgen::eval
