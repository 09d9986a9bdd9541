// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/stored_evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "core/error.h"
#include "eval/subgroup.h"
#include "eval/table.h"
#include "score/eval_set.h"

namespace roentgen::score {
namespace {

using testing::HasSubstr;

// Returns eight images: five of two studies, and three that are each the only image of a study. Hernia has only one
// class.
EvalSet sample_set() {
  EvalSet set;
  set.predictions = {.label_names = {"Mass", "Hernia"},
                     .image_ids = {"a", "b", "c", "d", "e"},
                     .patients = {0, 0, 1, 2, 3},
                     .probabilities = {0.9F, 0.1F, 0.2F, 0.1F, 0.4F, 0.2F, 0.3F, 0.1F, 0.1F, 0.3F},
                     .labels = {1, 0, 1, 0, 0, 0, 0, 0, 0, eval::kUnknown}};
  for (const char* study : {"1", "1", "2", "3", "4"}) set.facts.push_back({.study = study});
  return set;
}

Value evaluation_of(const EvalSet& set) {
  Value evaluation = eval::to_value(eval::evaluate(set.predictions, {.replicates = 0}));
  evaluation.set("unit", set.unit);
  return evaluation;
}

void expect_refused(const EvalSet& set, const Value& evaluation, const std::string& words) {
  try {
    check_figures(set, "preds.csv", evaluation, "eval.json");
    ADD_FAILURE() << "not refused: " << words;
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr(words));
    EXPECT_THAT(error.what(), HasSubstr("preds.csv"));
  }
}

TEST(CheckFigures, takes_the_evaluation_of_these_predictions) {
  EXPECT_NO_THROW(check_figures(sample_set(), "preds.csv", evaluation_of(sample_set()), "eval.json"));
}

TEST(CheckFigures, names_the_finding_and_both_values) {
  const Value evaluation = evaluation_of(sample_set());
  EvalSet flipped = sample_set();
  flipped.predictions.labels[4] = 1;
  expect_refused(
      flipped, evaluation,
      "expected Mass of eval.json: 2 positive of 5, AUROC 0.6666666667, got 3 positive of 5, AUROC 0.8333333333");
  EvalSet known = sample_set();
  known.predictions.labels[9] = 0;
  expect_refused(known, evaluation, "Hernia of eval.json: 0 positive of 4, AUROC undefined, got 0 positive of 5");
  EvalSet other = sample_set();
  other.predictions.probabilities[2] = 0.35F;  // the score now exceeds that of image d, but all counts stay equal
  expect_refused(other, evaluation, "AUROC 0.6666666667, got 2 positive of 5, AUROC 0.8333333333");
}

TEST(CheckFigures, labels_are_the_same_on_both_sides) {
  EvalSet renamed = sample_set();
  renamed.predictions.label_names[0] = "Lump";
  expect_refused(renamed, evaluation_of(sample_set()), "Lump of eval.json: no such finding, got 2 positive of 5");
  Value more = evaluation_of(sample_set());
  Value auroc = more.at("auroc");
  Value labels = auroc.at("labels");
  labels.set("Edema", Value::Table{{"auroc", 0.5}, {"positives", 1}, {"n", 5}});
  auroc.set("labels", std::move(labels));
  more.set("auroc", std::move(auroc));
  expect_refused(sample_set(), more, "Edema of eval.json: 1 positive of 5, AUROC 0.5, got no such finding");
}

TEST(CheckFigures, rows_of_studies_are_merged_first) {
  const Value evaluation = evaluation_of(by_study(sample_set(), eval::Aggregate::Max));
  EXPECT_EQ(evaluated_unit(evaluation), "study, max");
  EXPECT_NO_THROW(check_figures(in_unit_of(evaluation, sample_set()), "preds.csv", evaluation, "eval.json"));
  expect_refused(sample_set(), evaluation, "Mass of eval.json: 1 positive of 4");
}

}  // namespace
}  // namespace roentgen::score
