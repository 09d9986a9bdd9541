// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Operating points: one threshold a label and one temperature, fitted on validation before a test. Stored as a small
// JSON file (docs/reference/formats/points.md), so that they can be used on any later set, never chosen on it.
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

/// Thresholds and temperature, and where they come from. Plain value.
struct OperatingPoints {
  ThresholdRule rule = ThresholdRule::MaxF1;  ///< rule that chose the thresholds
  /// (K)
  std::vector<std::string> label_names{};
  /// (K) a score at or above its threshold is called positive; nullopt where validation had one class only.
  std::vector<std::optional<double>> thresholds{};
  /// Temperature that divides all logits; nullopt where none is best.
  std::optional<double> temperature{};
  /// Images of the validation set.
  std::int64_t images = 0;
  std::int64_t patients = 0;  ///< distinct patients of the validation set
  std::string list_sha256{};  ///< hash of its names; empty: not known
  /// Unit of a score: "image", or "study, max" and "study, mean" after merge_studies(). Points of one unit fit no
  /// other.
  std::string unit = "image";
  /// Preprocessing and test-time views of the model in words; empty: not known (predictions of a file).
  std::string input{};
  /// SHA-256 of the weights that gave the scores; empty: not known (predictions of a file).
  std::string weights_sha256{};
  friend bool operator==(const OperatingPoints&, const OperatingPoints&) = default;
};

/// Chooses operating points on these predictions. Throws as check_predictions().
[[nodiscard]] OperatingPoints fit_operating_points(const Predictions& validation, ThresholdRule rule);

/// The threshold of each of `label_names`, matched by name; ConfigError when a label is not among the points'.
[[nodiscard]] std::vector<std::optional<double>> thresholds_for(const OperatingPoints& points,
                                                                const std::vector<std::string>& label_names);

inline constexpr std::string_view kPointsFormat = "roentgen-points-1";  ///< value of the key "format"

/// {"format", "rule", "thresholds": {label: number or null}, "temperature", "unit", "input" and "weights_sha256" where
/// known, "fitted_on": {"images", "patients", "list_sha256"}}.
[[nodiscard]] Value to_value(const OperatingPoints& points);
/// Parses the table; ConfigError naming `what` (the file) and the key.
[[nodiscard]] OperatingPoints points_from_value(const Value& value, std::string_view what);

}  // namespace roentgen::eval
