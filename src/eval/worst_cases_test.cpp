// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/worst_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "eval/prediction_testing.h"

namespace roentgen::eval {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns predictions for the images e, d, c, b, a, f with two labels. Only the second label is tested; the first has
// random values.
Predictions sample() {
  return {.label_names = {"Mass", "Edema"},
          .image_ids = {"e", "d", "c", "b", "a", "f"},
          .patients = {0, 1, 2, 3, 4, 5},
          .probabilities = {0.5F, 0.9F, 0.5F, 0.7F, 0.5F, 0.7F, 0.5F, 0.2F, 0.5F, 0.2F, 0.5F, 0.99F},
          .labels = {0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, kUnknown}};
}

TEST(WorstCases, are_the_ends_of_the_ranking_on_the_wrong_side) {
  const WorstCases cases = worst_cases(sample(), 1, 2);
  EXPECT_THAT(cases.false_positives, ElementsAre(0, 2)) << "d and c are equal: the name decides";
  EXPECT_THAT(cases.false_negatives, ElementsAre(4, 3)) << "a before b";
}

TEST(WorstCases, are_fewer_where_there_are_fewer) {
  const WorstCases cases = worst_cases(sample(), 1, 10);
  EXPECT_THAT(cases.false_positives, ElementsAre(0, 2, 1)) << "f is of unknown truth";
  EXPECT_THAT(cases.false_negatives, ElementsAre(4, 3));
  EXPECT_THAT(worst_cases(sample(), 0, 10).false_negatives, ElementsAre(3));
  EXPECT_THAT(worst_cases(sample(), 1, 0).false_positives, IsEmpty());
}

TEST(WorstCases, do_not_depend_on_the_order_of_rows) {
  const Predictions drawn = draw_patients(40, 3);
  std::vector<std::size_t> order(drawn.image_ids.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  const Predictions turned = with_rows(drawn, order);
  const auto names = [](const Predictions& predictions, const std::vector<std::size_t>& rows) {
    std::vector<std::string> result;
    for (const std::size_t row : rows) result.push_back(predictions.image_ids[row]);
    return result;
  };
  const WorstCases forth = worst_cases(drawn, 0, 7), back = worst_cases(turned, 0, 7);
  EXPECT_EQ(names(drawn, forth.false_positives), names(turned, back.false_positives));
  EXPECT_EQ(names(drawn, forth.false_negatives), names(turned, back.false_negatives));
}

}  // namespace
}  // namespace roentgen::eval
