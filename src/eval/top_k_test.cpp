// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/top_k.h"

#include <gtest/gtest.h>

#include <cmath>

namespace roentgen::eval {
namespace {

Predictions three_images() {
  return {.label_names = {"A", "B", "C", "D"},
          .image_ids = {"1", "2", "3"},
          .patients = {1, 2, 3},
          .probabilities = {0.4F, 0.3F, 0.2F, 0.1F,  //
                            0.1F, 0.3F, 0.3F, 0.3F,  //
                            0.25F, 0.25F, 0.25F, 0.25F},
          .labels = {0, 1, 0, 0,  //
                     0, 0, 1, 0,  //
                     1, 0, 0, 0},
          .outputs = Outputs::Exclusive};
}

TEST(TopK, counts_the_true_label_among_the_k_best) {
  EXPECT_EQ(top_k_credits(three_images(), 1)[0], 0.0);
  EXPECT_EQ(top_k_credits(three_images(), 2)[0], 1.0);
}

TEST(TopK, gives_equals_the_chance_of_a_random_order) {
  EXPECT_DOUBLE_EQ(top_k_credits(three_images(), 1)[1], 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(top_k_credits(three_images(), 2)[1], 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(top_k_credits(three_images(), 1)[2], 0.25);  // equal probabilities score like chance
  EXPECT_EQ(top_k_credits(three_images(), 4)[2], 1.0);
}

TEST(TopK, is_undefined_without_exactly_one_true_label) {
  Predictions predictions = three_images();
  predictions.labels[1] = kUnknown;
  predictions.labels[4] = 1;
  const std::vector<double> credits = top_k_credits(predictions, 1);
  EXPECT_TRUE(std::isnan(credits[0]));
  EXPECT_TRUE(std::isnan(credits[1]));
  EXPECT_FALSE(std::isnan(credits[2]));
}

TEST(TopK, accuracy_is_the_mean_credit_of_images_with_one_true_label) {
  Predictions predictions = three_images();
  EXPECT_DOUBLE_EQ(top_k_accuracy(predictions, 1).value(), (0.0 + 1.0 / 3.0 + 0.25) / 3.0);
  predictions.labels[1] = kUnknown;
  EXPECT_DOUBLE_EQ(top_k_accuracy(predictions, 1).value(), (1.0 / 3.0 + 0.25) / 2.0);
  predictions.outputs = Outputs::Independent;
  EXPECT_FALSE(top_k_accuracy(predictions, 1).has_value());
}

}  // namespace
}  // namespace roentgen::eval
