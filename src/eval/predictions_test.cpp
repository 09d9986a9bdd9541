// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/predictions.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "core/error.h"

namespace roentgen::eval {
namespace {

Predictions good() {
  return {.label_names = {"Mass", "Edema"},
          .image_ids = {"a.png", "00000001_000.png"},
          .patients = {1, 2},
          .probabilities = {0.1F, 0.2F, 0.3F, 0.4F},
          .labels = {1, 0, kUnknown, 1}};
}

std::string refusal(const std::function<void(Predictions&)>& spoil) {
  Predictions predictions = good();
  spoil(predictions);
  try {
    check_predictions(predictions);
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Predictions, that_fit_together_are_accepted) {
  EXPECT_NO_THROW(check_predictions(good()));
  EXPECT_NO_THROW(check_predictions({}));
}

TEST(Predictions, of_sizes_that_differ_are_refused) {
  EXPECT_EQ(refusal([](Predictions& p) { p.patients.pop_back(); }),
            "[eval.predictions] patients: expected 2 entries, got 1");
  EXPECT_EQ(refusal([](Predictions& p) { p.probabilities.push_back(0.0F); }),
            "[eval.predictions] probabilities: expected 4 entries, got 5");
  EXPECT_EQ(refusal([](Predictions& p) { p.labels.clear(); }), "[eval.predictions] labels: expected 4 entries, got 0");
}

TEST(Predictions, with_a_name_twice_are_refused) {
  EXPECT_EQ(refusal([](Predictions& p) { p.label_names[1] = "Mass"; }),
            "[eval.predictions] label name 2: expected each name once, got a name that occurs twice");
  EXPECT_EQ(refusal([](Predictions& p) { p.image_ids[1] = "a.png"; }),
            "[eval.predictions] image 2: expected each name once, got a name that occurs twice");
}

TEST(Predictions, that_are_not_finite_are_refused_by_row_and_label_without_the_image_name) {
  EXPECT_EQ(refusal([](Predictions& p) { p.probabilities[3] = std::numeric_limits<float>::quiet_NaN(); }),
            "[eval.predictions] image 2, Edema: expected a finite number as probability, got nan");
}

TEST(Predictions, with_labels_other_than_known_ones_are_refused) {
  EXPECT_EQ(refusal([](Predictions& p) { p.labels[0] = 2; }),
            "[eval.predictions] image 1, Mass: expected label 1, 0 or -1 (unknown), got 2");
}

}  // namespace
}  // namespace roentgen::eval
