// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/operating_points.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "eval/label_scores.h"
#include "eval/temperature.h"

namespace roentgen::eval {
namespace {

constexpr std::string_view kRemedy = "a file that roentgen eval --save-points wrote";

std::optional<double> number_at(const Value& value, const std::string& key, std::string_view what) {
  if (value.is_null()) return std::nullopt;
  if (value.is_number() && std::isfinite(value.as_double())) return value.as_double();
  throw ConfigError(
      error_text("eval.points", std::string(what) + " " + key, "a number or null", std::string(value.kind()), kRemedy));
}

const Value& entry(const Value& value, std::string_view key, std::string_view what) {
  if (const Value* found = value.find(key)) return *found;
  throw ConfigError(error_text("eval.points", what, "the key " + std::string(key), "no such key", kRemedy));
}

std::string text_at(const Value& value, std::string_view key, std::string_view what) {
  const Value& found = entry(value, key, what);
  if (found.is_string()) return found.as_string();
  throw ConfigError(error_text("eval.points", std::string(what) + " " + std::string(key), "text",
                               std::string(found.kind()), kRemedy));
}

std::int64_t count_at(const Value& value, std::string_view key, std::string_view what) {
  const Value& found = entry(value, key, what);
  if (found.is_integer() && found.as_integer() >= 0) return found.as_integer();
  throw ConfigError(error_text("eval.points", std::string(what) + " " + std::string(key),
                               "a whole number of at least 0", std::string(found.kind()), kRemedy));
}

Value number_or_null(const std::optional<double>& number) { return number ? Value(*number) : Value(); }

}  // namespace

OperatingPoints fit_operating_points(const Predictions& validation, ThresholdRule rule) {
  check_predictions(validation);
  const Clusters clusters = make_clusters(validation.patients);
  OperatingPoints points{.rule = rule,
                         .label_names = validation.label_names,
                         .images = validation.image_count(),
                         .patients = clusters.count};
  for (std::size_t i = 0; i < validation.label_names.size(); ++i) {
    const RankedScores ranked = rank_label(validation, i, clusters);
    points.thresholds.push_back(choose_threshold(ranked.count(), rule));
  }
  if (const Figure temperature = fit_temperature(validation); temperature.is_defined()) {
    points.temperature = temperature.value;
  }
  return points;
}

std::vector<std::optional<double>> thresholds_for(const OperatingPoints& points,
                                                  const std::vector<std::string>& label_names) {
  std::vector<std::optional<double>> thresholds;
  for (const std::string& name : label_names) {
    const auto found = std::ranges::find(points.label_names, name);
    if (found == points.label_names.end()) {
      std::string known;
      for (const std::string& other : points.label_names) known += (known.empty() ? "" : ", ") + other;
      throw ConfigError(error_text("eval.points", name, "a threshold for this label", "thresholds for " + known,
                                   "thresholds (--points) saved for the model of these predictions"));
    }
    thresholds.push_back(points.thresholds[static_cast<std::size_t>(found - points.label_names.begin())]);
  }
  return thresholds;
}

Value to_value(const OperatingPoints& points) {
  Value::Table thresholds;
  for (std::size_t i = 0; i < points.label_names.size(); ++i) {
    thresholds.emplace_back(points.label_names[i], number_or_null(points.thresholds[i]));
  }
  Value value = Value::Table{
      {"format", kPointsFormat},
      {"rule", name_of(points.rule)},
      {"thresholds", Value(std::move(thresholds))},
      {"temperature", number_or_null(points.temperature)},
      {"unit", points.unit},
      {"fitted_on",
       Value::Table{{"images", points.images}, {"patients", points.patients}, {"list_sha256", points.list_sha256}}}};
  if (!points.input.empty()) value.set("input", points.input);
  if (!points.weights_sha256.empty()) value.set("weights_sha256", points.weights_sha256);
  return value;
}

OperatingPoints points_from_value(const Value& value, std::string_view what) {
  const std::string format = text_at(value, "format", what);
  if (format != kPointsFormat) {
    throw ConfigError(error_text("eval.points", std::string(what) + " format", kPointsFormat, format, kRemedy));
  }
  OperatingPoints points{.rule = parse_threshold_rule(text_at(value, "rule", what))};
  const Value& thresholds = entry(value, "thresholds", what);
  if (!thresholds.is_table()) {
    throw ConfigError(error_text("eval.points", std::string(what) + " thresholds", "a table of labels",
                                 std::string(thresholds.kind()), kRemedy));
  }
  for (const auto& [label, threshold] : thresholds.as_table()) {
    points.label_names.push_back(label);
    points.thresholds.push_back(number_at(threshold, label, what));
  }
  points.temperature = number_at(entry(value, "temperature", what), "temperature", what);
  if (points.temperature && !(*points.temperature > 0.0)) {
    throw ConfigError(error_text("eval.points", std::string(what) + " temperature", "a number above 0",
                                 std::to_string(*points.temperature), kRemedy));
  }
  points.unit = text_at(value, "unit", what);
  const Value& fitted_on = entry(value, "fitted_on", what);
  points.images = count_at(fitted_on, "images", what);
  points.patients = count_at(fitted_on, "patients", what);
  points.list_sha256 = text_at(fitted_on, "list_sha256", what);
  if (value.find("input") != nullptr) points.input = text_at(value, "input", what);
  if (value.find("weights_sha256") != nullptr) points.weights_sha256 = text_at(value, "weights_sha256", what);
  return points;
}

}  // namespace roentgen::eval
