// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/curves_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roentgen::eval {
namespace {

using testing::HasSubstr;

/// Returns predictions of one label for three images, of which the second and third are positive. The first image shows
/// another patient than these two.
Predictions mass(std::vector<float> probabilities) {
  return {.label_names = {"Mass"},
          .image_ids = {"a.png", "c.png", "b.png"},
          .patients = {0, 1, 0},
          .probabilities = std::move(probabilities),
          .labels = {0, 1, 1}};
}

TEST(CurvesCsv, has_the_points_of_the_curves) {
  const Predictions predictions = mass({0.25F, 0.5F, 0.25F});
  EXPECT_EQ(
      curves_csv(predictions),
      "label,threshold,sensitivity,specificity,ppv,true_positives,false_positives,false_negatives,true_negatives\n"
      "Mass,inf,0,1,,0,0,2,1\n"
      "Mass,0.5,0.5,1,1,1,0,1,1\n"
      "Mass,0.25,1,0,0.666666667,2,1,0,0\n");
}

TEST(ReliabilityCsv, has_bins_of_raw_and_scaled_scores) {
  const Predictions predictions = mass({0.25F, 1.0F, 0.25F});
  const std::string raw = reliability_csv(predictions, nullptr);
  EXPECT_THAT(raw, HasSubstr("\nMass,raw,0.2,0.266666667,2,1,0.25,0.5\n"));
  EXPECT_THAT(raw, HasSubstr("\nMass,raw,0,0.0666666667,0,0,,\n"));
  EXPECT_THAT(raw, testing::Not(HasSubstr("scaled")));
  OperatingPoints points{.temperature = 2.0};
  EXPECT_THAT(reliability_csv(predictions, &points), HasSubstr("\nMass,scaled,0.333333333,0.4,2,1,0.3660254"));
}

}  // namespace
}  // namespace roentgen::eval
