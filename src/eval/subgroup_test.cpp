// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/subgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "eval/prediction_testing.h"

namespace roentgen::eval {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Subgroups, are_rows_by_value_with_the_unknown_last) {
  const std::vector<std::string> values{"PA", "", "AP", "PA", "unknown"};
  const std::vector<Group> groups = group_rows(values);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].name, "AP");
  EXPECT_EQ(groups[1].name, "PA");
  EXPECT_THAT(groups[1].rows, ElementsAre(0, 3));
  EXPECT_EQ(groups[2].name, "unknown");
  EXPECT_THAT(groups[2].rows, ElementsAre(1, 4));
}

TEST(Subgroups, have_age_bands_that_meet) {
  EXPECT_EQ(age_band(0.0F), "00-17");
  EXPECT_EQ(age_band(17.9F), "00-17");
  EXPECT_EQ(age_band(18.0F), "18-39");
  EXPECT_EQ(age_band(59.9F), "40-59");
  EXPECT_EQ(age_band(60.0F), "60-79");
  EXPECT_EQ(age_band(95.0F), "80+");
  EXPECT_EQ(age_band(std::numeric_limits<float>::quiet_NaN()), "");
}

TEST(Subgroups, are_evaluated_as_if_there_were_nothing_else) {
  const Predictions all = draw_patients(40, 1);
  std::vector<std::string> values;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < all.image_ids.size(); ++i) {
    values.emplace_back(i / kImagesEach % 2 == 0 ? "M" : "F");
    if (values.back() == "M") rows.push_back(i);
  }
  const auto groups = evaluate_groups(all, values, {.replicates = 50}, {.metrics = {Metric::Auprc}});
  ASSERT_EQ(groups.size(), 2U);
  const EvalTable alone = evaluate(with_rows(all, rows), {.replicates = 50}, {.metrics = {Metric::Auprc}});
  EXPECT_EQ(groups[1].name, "M");
  EXPECT_EQ(to_value(groups[1].table), to_value(alone));
  const std::string text = groups_text("sex", groups);
  EXPECT_THAT(text, testing::StartsWith("sex  images  patients  findings"));
  EXPECT_THAT(text, HasSubstr("\nF        60        20    2 of 3  0."));
}

Predictions two_studies() {
  return {.label_names = {"Mass", "Edema"},
          .image_ids = {"a", "b", "c"},
          .patients = {1, 2, 1},
          .probabilities = {0.25F, 0.5F, 0.75F, 1.0F, 0.75F, 0.0F},
          .labels = {0, kUnknown, 1, 0, 1, 0}};
}

TEST(Studies, take_the_largest_or_the_mean_probability) {
  const std::vector<std::string> studies{"s1", "s2", "s1"};
  const Predictions largest = merge_studies(two_studies(), studies, Aggregate::Max);
  EXPECT_THAT(largest.image_ids, ElementsAre("s1", "s2"));
  EXPECT_THAT(largest.patients, ElementsAre(1, 2));
  EXPECT_THAT(largest.probabilities, ElementsAre(0.75F, 0.5F, 0.75F, 1.0F));
  const Predictions mean = merge_studies(two_studies(), studies, Aggregate::Mean);
  EXPECT_THAT(mean.probabilities, ElementsAre(0.5F, 0.25F, 0.75F, 1.0F));
}

TEST(Studies, have_a_finding_when_any_image_has_it_and_are_unknown_when_any_is) {
  const Predictions merged = merge_studies(two_studies(), std::vector<std::string>{"s1", "s2", "s1"}, Aggregate::Max);
  EXPECT_THAT(merged.labels, ElementsAre(1, kUnknown, 1, 0));
}

TEST(Studies, take_the_largest_of_negative_scores_as_well) {
  Predictions scores = two_studies();
  for (float& score : scores.probabilities) score -= 2.0F;
  const Predictions merged = merge_studies(scores, std::vector<std::string>{"s1", "s2", "s1"}, Aggregate::Max);
  EXPECT_FLOAT_EQ(merged.probabilities[0], -1.25F);
}

TEST(Studies, of_exclusive_outputs_stay_so_only_by_mean) {
  Predictions exclusive = two_studies();
  exclusive.outputs = Outputs::Exclusive;
  const std::vector<std::string> studies{"s1", "s2", "s1"};
  EXPECT_EQ(merge_studies(exclusive, studies, Aggregate::Mean).outputs, Outputs::Exclusive);
  EXPECT_EQ(merge_studies(exclusive, studies, Aggregate::Max).outputs, Outputs::Independent);
}

TEST(Studies, without_a_name_or_with_two_patients_are_refused) {
  EXPECT_THROW(
      static_cast<void>(merge_studies(two_studies(), std::vector<std::string>{"s1", "", "s1"}, Aggregate::Max)),
      DataError);
  EXPECT_THROW(
      static_cast<void>(merge_studies(two_studies(), std::vector<std::string>{"s1", "s1", "s1"}, Aggregate::Max)),
      DataError);
  EXPECT_THROW(static_cast<void>(parse_aggregate("sum")), ConfigError);
  EXPECT_EQ(parse_aggregate("mean"), Aggregate::Mean);
}

}  // namespace
}  // namespace roentgen::eval
