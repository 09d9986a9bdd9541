// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/temperature.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "eval/auroc.h"

namespace roentgen::eval {
namespace {

// Draws labels from known probabilities. The predictions are sigmoid or softmax of `sharpness` times the true logits.
Predictions draw_overconfident(Outputs outputs, int images, double sharpness) {
  Random random(11, RandomStage::Test);
  Predictions drawn{.label_names = {"A", "B", "C"}, .outputs = outputs};
  for (int i = 0; i < images; ++i) {
    drawn.image_ids.push_back(std::to_string(i));
    drawn.patients.push_back(i);
    double logits[3];
    double sum = 0.0;
    double sharp_sum = 0.0;
    for (double& logit : logits) {
      logit = 1.5 * random.normal();
      sum += std::exp(logit);
      sharp_sum += std::exp(sharpness * logit);
    }
    double left = random.uniform() * sum;
    for (const double logit : logits) {
      if (outputs == Outputs::Independent) {
        drawn.probabilities.push_back(static_cast<float>(1.0 / (1.0 + std::exp(-sharpness * logit))));
        drawn.labels.push_back(random.chance(1.0 / (1.0 + std::exp(-logit))) ? 1 : 0);
        continue;
      }
      drawn.probabilities.push_back(static_cast<float>(std::exp(sharpness * logit) / sharp_sum));
      drawn.labels.push_back(left >= 0.0 && left < std::exp(logit) ? 1 : 0);
      left -= std::exp(logit);
    }
  }
  return drawn;
}

// Returns the mean loss by definition, over known labels (Independent) or images (Exclusive).
double naive_loss(const Predictions& predictions) {
  double sum = 0.0;
  for (std::size_t i = 0; i < predictions.labels.size(); ++i) {
    const auto p = static_cast<double>(predictions.probabilities[i]);
    if (predictions.labels[i] == 1) sum -= std::log(p);
    if (predictions.labels[i] == 0 && predictions.outputs == Outputs::Independent) sum -= std::log1p(-p);
  }
  return sum;
}

TEST(Temperature, finds_how_overconfident_the_logits_are) {
  for (const Outputs outputs : {Outputs::Independent, Outputs::Exclusive}) {
    // Tolerance: with 3,000 images, the standard error of the fitted T is about 2%.
    EXPECT_NEAR(fit_temperature(draw_overconfident(outputs, 3000, 2.5)).value, 2.5, 0.25);
  }
}

TEST(Temperature, has_no_better_neighbour) {
  for (const Outputs outputs : {Outputs::Independent, Outputs::Exclusive}) {
    const Predictions predictions = draw_overconfident(outputs, 300, 2.0);
    const double fitted = fit_temperature(predictions).value;
    const double loss = naive_loss(scaled_by(predictions, fitted));
    EXPECT_LT(loss, naive_loss(predictions));
    EXPECT_LT(loss, naive_loss(scaled_by(predictions, fitted * 1.05)));
    EXPECT_LT(loss, naive_loss(scaled_by(predictions, fitted / 1.05)));
  }
}

TEST(Temperature, of_one_changes_nothing_but_rounding) {
  for (const Outputs outputs : {Outputs::Independent, Outputs::Exclusive}) {
    const Predictions predictions = draw_overconfident(outputs, 50, 1.0);
    const Predictions same = scaled_by(predictions, 1.0);
    for (std::size_t i = 0; i < same.probabilities.size(); ++i) {
      EXPECT_NEAR(same.probabilities[i], predictions.probabilities[i], 1e-6F);
    }
  }
}

TEST(Temperature, keeps_exclusive_probabilities_summing_to_one_and_zeros_in_range) {
  Predictions predictions = draw_overconfident(Outputs::Exclusive, 20, 3.0);
  predictions.probabilities[0] = 0.0F;
  const Predictions scaled = scaled_by(predictions, 2.0);
  for (std::size_t i = 3; i + 2 < scaled.probabilities.size(); i += 3) {
    EXPECT_NEAR(scaled.probabilities[i] + scaled.probabilities[i + 1] + scaled.probabilities[i + 2], 1.0F, 1e-6F);
  }
  EXPECT_GE(scaled.probabilities[0], 0.0F);
  EXPECT_LT(scaled.probabilities[0], 1e-6F);
}

TEST(Temperature, copes_with_probabilities_of_exactly_zero_and_one) {
  Predictions predictions = draw_overconfident(Outputs::Independent, 300, 2.0);
  predictions.probabilities[0] = 0.0F;
  predictions.labels[0] = 1;
  predictions.probabilities[1] = 1.0F;
  predictions.labels[1] = 0;
  EXPECT_TRUE(fit_temperature(predictions).is_defined());
  EXPECT_GT(fit_temperature(predictions).value, 2.0);
}

TEST(Temperature, does_not_see_labels_that_are_unknown) {
  Predictions predictions = draw_overconfident(Outputs::Independent, 300, 2.0);
  Predictions without = predictions;
  const double before = fit_temperature(predictions).value;
  for (std::size_t i = 0; i < 90; i += 3) without.labels[i] = kUnknown;
  const double after = fit_temperature(without).value;
  EXPECT_NE(after, before);
  for (std::size_t i = 0; i < 90; i += 3) without.probabilities[i] = 0.5F;
  EXPECT_EQ(fit_temperature(without).value, after);
}

TEST(Temperature, is_undefined_where_no_temperature_is_best) {
  const Predictions perfect{.label_names = {"A"},
                            .image_ids = {"1", "2"},
                            .patients = {1, 2},
                            .probabilities = {0.1F, 0.9F},
                            .labels = {0, 1}};
  EXPECT_EQ(fit_temperature(perfect).reason, kNoTemperature);
  Predictions wrong = perfect;
  wrong.labels = {1, 0};
  EXPECT_EQ(fit_temperature(wrong).reason, kNoTemperature);
  Predictions unknown = perfect;
  unknown.labels = {kUnknown, kUnknown};
  EXPECT_EQ(fit_temperature(unknown).reason, kNoImages);
  Predictions scores = perfect;
  scores.probabilities = {0.1F, 3.0F};
  EXPECT_EQ(fit_temperature(scores).reason, kNoProbabilities);
}

}  // namespace
}  // namespace roentgen::eval
