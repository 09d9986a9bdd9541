// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/eval_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/eval_output.h"
#include "cli/file_testing.h"
#include "core/error.h"
#include "data/source/dataset.h"
#include "train/predict.h"

namespace roentgen::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kLabels =
    "path,patient,study,view,sex,age,Mass,Edema\n"
    "c.png,q,1,AP,M,70,1,0\na.png,p,1,PA,F,30,0,1\nb.png,p,1,LL,F,30,1,\nd.png,,2,,,,0,1\n";

EvalSet read_set(std::string_view predictions, std::string_view labels = kLabels) {
  const ScratchFile prediction_file(predictions);
  const ScratchFile label_file(labels);
  PredictionFile file = read_prediction_file(prediction_file.path());
  const LabelTable table = read_label_table(label_file.path(), file.labels, {});
  return join(std::move(file), table, "preds.csv");
}

TEST(PredictionFile, reads_probabilities_by_their_prefix) {
  const ScratchFile file(",Image Index,prob_Mass,note,prob_Edema\n0,a.png,0.25,x,1e-50\n1,b.png,1,y,0\n");
  const PredictionFile read = read_prediction_file(file.path());
  EXPECT_THAT(read.labels, ElementsAre("Mass", "Edema"));
  EXPECT_THAT(read.images, ElementsAre("a.png", "b.png"));
  EXPECT_THAT(read.probabilities, ElementsAre(0.25F, 0.0F, 1.0F, 0.0F));
}

TEST(PredictionFile, reads_back_what_the_program_writes) {
  const eval::Predictions predictions{.label_names = {"Mass", "Edema"},
                                      .image_ids = {"a.png", "x,\"y\".png"},
                                      .patients = {0, 1},
                                      .probabilities = {0.1F, 1e-45F, 0.9999999F, 1.0F},
                                      .labels = {0, 1, 1, 0}};
  const ScratchFile file(train::predictions_csv(predictions));
  const PredictionFile read = read_prediction_file(file.path());
  EXPECT_EQ(read.images, predictions.image_ids);
  EXPECT_EQ(read.labels, predictions.label_names);
  EXPECT_EQ(read.probabilities, predictions.probabilities);
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

TEST(PredictionFile, refuses_what_is_no_table_of_predictions_and_names_no_image) {
  expect_refused("Name,prob_Mass\na.png,1\n", "expected a column Image Index, got Name, prob_Mass");
  expect_refused("Image Index,Mass\na.png,1\n", "expected columns prob_<Label>, got Image Index, Mass");
  expect_refused("Image Index,prob_Mass,prob_Mass\na.png,1,1\n", "expected each label once, got prob_Mass twice");
  expect_refused("Image Index,prob_Mass\na.png,nan\n", "line 2, prob_Mass: expected a finite number, got \"nan\"");
  expect_refused("Image Index,prob_Mass\na.png,1e99\n", "line 2, prob_Mass: expected a finite number");
  expect_refused("Image Index,prob_Mass\na.png\n", "line 2, prob_Mass: expected a finite number, got \"\"");
  expect_refused("Image Index,prob_Mass\na.png,1\na.png,1\n", "line 3: expected an image's name, each once");
  expect_refused("Image Index,prob_Mass\n", "expected a row an image, got a header only");
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
  expect_refused("Image Index,prob_Mass\na.png,1\nz.png,1\n", "got 1 of 2 without a row there; try");
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
  EXPECT_NO_THROW(check_apart(read_set("Image Index,prob_Mass\nc.png,0.1\n"), test, false));
  EXPECT_THROW(check_apart(read_set("Image Index,prob_Mass\na.png,0.1\n"), test, true), DataError);
  EXPECT_THROW(check_apart(read_set("Image Index,prob_Mass\nb.png,0.1\n"), test, false), DataError);
  EXPECT_NO_THROW(check_apart(read_set("Image Index,prob_Mass\nb.png,0.1\n"), test, true));
}

TEST(EvalOutput, writes_the_points_of_the_curves) {
  const EvalSet set = read_set("Image Index,prob_Mass\na.png,0.25\nc.png,0.5\nb.png,0.25\n");
  EXPECT_EQ(
      curves_csv(set.predictions),
      "label,threshold,sensitivity,specificity,ppv,true_positives,false_positives,false_negatives,true_negatives\n"
      "Mass,inf,0,1,,0,0,2,1\n"
      "Mass,0.5,0.5,1,1,1,0,1,1\n"
      "Mass,0.25,1,0,0.666666667,2,1,0,0\n");
}

TEST(EvalOutput, writes_the_reliability_of_raw_and_scaled_scores) {
  const EvalSet set = read_set("Image Index,prob_Mass\na.png,0.25\nc.png,1\nb.png,0.25\n");
  const std::string raw = reliability_csv(set.predictions, nullptr);
  EXPECT_THAT(raw, HasSubstr("\nMass,raw,0.2,0.266666667,2,1,0.25,0.5\n"));
  EXPECT_THAT(raw, HasSubstr("\nMass,raw,0,0.0666666667,0,0,,\n"));
  EXPECT_THAT(raw, testing::Not(HasSubstr("scaled")));
  eval::OperatingPoints points{.temperature = 2.0};
  EXPECT_THAT(reliability_csv(set.predictions, &points), HasSubstr("\nMass,scaled,0.333333333,0.4,2,1,0.3660254"));
}

}  // namespace
}  // namespace roentgen::cli
