// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/eval_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "eval/leak.h"
#include "eval/subgroup.h"
#include "score/prediction_file.h"
#include "score/truth.h"

namespace roentgen::score {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kLabels =
    "path,patient,study,view,sex,age,Mass,Edema\n"
    "c.png,q,1,AP,M,70,1,0\na.png,p,1,PA,F,30,0,1\nb.png,p,1,LL,F,30,1,\nd.png,,2,,,,0,1\n";

EvalSet read_set(std::string_view predictions, std::string_view labels = kLabels) {
  const data::TestFolder folder;
  PredictionFile file = read_prediction_file(folder.write("preds.csv", predictions));
  const Truth truth = read_truth(folder.write("labels.csv", labels), file.labels, {});
  return join(std::move(file), truth, "preds.csv");
}

void expect_refused(std::string_view predictions, const std::string& part) {
  try {
    static_cast<void>(read_set(predictions));
    ADD_FAILURE() << "not refused: " << part;
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr(part));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("a.png")));
  }
}

TEST(EvalSet, matches_images_and_labels_by_name) {
  const EvalSet set = read_set("Image Index,prob_Edema,prob_Mass\na.png,0.1,0.2\nc.png,0.3,0.4\nb.png,0.5,0.6\n");
  EXPECT_THAT(set.predictions.label_names, ElementsAre("Edema", "Mass"));
  EXPECT_THAT(set.predictions.labels, ElementsAre(1, 0, 0, 1, eval::kUnknown, 1));
  EXPECT_EQ(set.predictions.patients[0], set.predictions.patients[2]);
  EXPECT_NE(set.predictions.patients[0], set.predictions.patients[1]);
  EXPECT_EQ(set.predictions.outputs, eval::Outputs::Independent);
  EXPECT_EQ(set.unknown_patients, 0);
  EXPECT_THAT(attribute_values(set, "view"), ElementsAre("PA", "AP", "LL"));
  EXPECT_THAT(attribute_values(set, "sex"), ElementsAre("F", "M", "F"));
  EXPECT_THAT(attribute_values(set, "age"), ElementsAre("18-39", "60-79", "18-39"));
}

TEST(EvalSet, refuses_images_and_labels_without_truth) {
  expect_refused("Image Index,prob_Mass\na.png,1\nz.png,1\n", "preds.csv: expected every image in");
  expect_refused("Image Index,prob_Mass\na.png,1\nz.png,1\n", "got 1 of 2 images without a row there; try");
  expect_refused("Image Index,prob_Nodule\na.png,1\n", "expected the label Nodule of the predictions");
}

TEST(EvalSet, counts_images_of_unknown_patient) {
  const EvalSet set = read_set("Image Index,prob_Mass\nd.png,0.1\na.png,0.3\n");
  EXPECT_EQ(set.unknown_patients, 1);
  EXPECT_NE(set.predictions.patients[0], set.predictions.patients[1]);
}

TEST(EvalSet, recognises_exclusive_outputs) {
  EXPECT_EQ(read_set("Image Index,prob_Mass,prob_Edema\na.png,0.25,0.75\nc.png,0.5,0.5\n").predictions.outputs,
            eval::Outputs::Exclusive);
  EXPECT_EQ(read_set("Image Index,prob_Mass,prob_Edema\na.png,0.25,0.85\nc.png,0.5,0.5\n").predictions.outputs,
            eval::Outputs::Independent);
}

TEST(EvalSet, merges_studies_with_their_facts) {
  const EvalSet set = read_set("Image Index,prob_Mass\na.png,0.1\nc.png,0.3\nb.png,0.5\n");
  const EvalSet merged = by_study(set, eval::Aggregate::Max);
  EXPECT_THAT(merged.predictions.image_ids, ElementsAre("p/1", "q/1"));
  EXPECT_THAT(merged.predictions.probabilities, ElementsAre(0.5F, 0.3F));
  EXPECT_THAT(merged.predictions.labels, ElementsAre(1, 1));
  EXPECT_THAT(attribute_values(merged, "sex"), ElementsAre("F", "M"));
  EXPECT_EQ(merged.unit, "study, max");
  const EvalSet unknown = read_set("Image Index,prob_Mass\na.png,0.1\n", "path,Mass\na.png,1\n");
  EXPECT_THROW(static_cast<void>(by_study(unknown, eval::Aggregate::Max)), DataError);
}

TEST(EvalSet, of_validation_shares_neither_images_nor_patients_with_the_test) {
  const EvalSet test = read_set("Image Index,prob_Mass\na.png,0.1\n");
  EXPECT_NO_THROW(check_apart(read_set("Image Index,prob_Mass\nc.png,0.1\n"), test, eval::OnOverlap::Refuse));
  EXPECT_THROW(check_apart(read_set("Image Index,prob_Mass\na.png,0.1\n"), test, eval::OnOverlap::Warn), DataError);
  EXPECT_THROW(check_apart(read_set("Image Index,prob_Mass\nb.png,0.1\n"), test, eval::OnOverlap::Refuse), DataError);
  EXPECT_NO_THROW(check_apart(read_set("Image Index,prob_Mass\nb.png,0.1\n"), test, eval::OnOverlap::Warn));
}

}  // namespace
}  // namespace roentgen::score
