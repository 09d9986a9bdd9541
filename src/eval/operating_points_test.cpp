// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/operating_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "eval/label_scores.h"
#include "eval/prediction_testing.h"
#include "eval/temperature.h"

namespace roentgen::eval {
namespace {

using testing::HasSubstr;

TEST(OperatingPoints, are_the_thresholds_and_the_temperature_of_validation) {
  const Predictions validation = draw_patients(30, 2);
  for (const ThresholdRule rule : {ThresholdRule::MaxF1, ThresholdRule::Youden}) {
    const OperatingPoints points = fit_operating_points(validation, rule);
    const RankedScores mass = rank_label(validation, 0, make_clusters(validation.patients));
    EXPECT_EQ(points.thresholds[0], choose_threshold(mass.count(), rule));
    EXPECT_EQ(points.thresholds[2], std::nullopt);  // Hernia has only one class
    EXPECT_EQ(points.temperature.value(), fit_temperature(validation).value);
    EXPECT_EQ(points.rule, rule);
    EXPECT_EQ(points.images, 90);
    EXPECT_EQ(points.patients, 30);
  }
}

TEST(OperatingPoints, are_matched_by_name) {
  const OperatingPoints points{.label_names = {"Mass", "Edema"}, .thresholds = {0.25, std::nullopt}};
  EXPECT_EQ(thresholds_for(points, {"Edema", "Mass"}), (std::vector<std::optional<double>>{std::nullopt, 0.25}));
  try {
    static_cast<void>(thresholds_for(points, {"Nodule"}));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("[eval.points] Nodule: expected a threshold for this label, got thresholds for "
                                        "Mass, Edema; try "));
  }
}

TEST(OperatingPoints, come_back_from_their_value) {
  OperatingPoints points = fit_operating_points(draw_patients(30, 2), ThresholdRule::Youden);
  points.list_sha256 = "ab";
  EXPECT_EQ(points_from_value(to_value(points), "points.json"), points);
  points.temperature.reset();
  EXPECT_EQ(points_from_value(to_value(points), "points.json"), points);
}

TEST(OperatingPoints, of_a_damaged_file_are_refused_by_key) {
  const Value good = to_value(fit_operating_points(draw_patients(30, 2), ThresholdRule::MaxF1));
  const std::vector<std::pair<std::string, Value>> damages = {
      {"format", "another"},   {"rule", "best"}, {"thresholds", 3}, {"thresholds.Mass", "high"}, {"temperature", 0.0},
      {"temperature", "warm"}, {"fitted_on", 1}, {"unit", 1},       {"fitted_on.images", -1}};
  for (const auto& [key, value] : damages) {
    Value bad = good;
    bad.set_path(key, value);
    EXPECT_THROW(static_cast<void>(points_from_value(bad, "points.json")), ConfigError) << key;
  }
  EXPECT_THROW(static_cast<void>(points_from_value(Value::table(), "points.json")), ConfigError);
}

}  // namespace
}  // namespace roentgen::eval
