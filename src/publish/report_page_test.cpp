// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The page shows what it was given, says what it was not, and loads nothing.
#include "publish/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace roentgen::publish {
namespace {

using testing::HasSubstr;
using testing::Not;

Value step(int number, double loss) {
  return Value::Table{{"kind", "step"}, {"step", number}, {"loss", loss}, {"lr", 0.01}};
}

ReportInput sample() {
  return {.recipe = Value::Table{{"model", Value::Table{{"name", "resnet18"}, {"file", ""}}},
                                 {"train", Value::Table{{"init", "/home/somebody/weights.safetensors"}}}},
          .log = {step(1, 0.7), step(2, 0.5),
                  Value::Table{{"kind", "epoch"}, {"step", 2}, {"val_loss", 0.6}, {"val_auroc", 0.8}}}};
}

ScoredPredictions scored() {
  return {.predictions = {.label_names = {"Mass", "Hernia"},
                          .image_ids = {"patient7_a.png", "b.png", "c.png", "d.png"},
                          .patients = {0, 1, 2, 3},
                          .probabilities = {0.9F, 0.1F, 0.8F, 0.1F, 0.2F, 0.1F, 0.1F, 0.1F},
                          .labels = {1, 0, 1, 0, 0, 0, 0, 0}},
          .list_sha256 = "feed"};
}

TEST(ReportPage, says_what_is_absent) {
  const std::string page = report_page(sample());
  EXPECT_THAT(page, HasSubstr("Research use, not a medical device"));
  EXPECT_THAT(page, HasSubstr("no data.json"));
  EXPECT_THAT(page, HasSubstr("No AUROCs"));
  EXPECT_THAT(page, HasSubstr("No truth to hold predictions against"));
  EXPECT_THAT(page, HasSubstr("Validation AUROC, mean of findings"));
  ReportInput empty = sample();
  empty.log.clear();
  EXPECT_THAT(report_page(empty), HasSubstr("no finished update"));
}

TEST(ForestFigure, needs_aurocs) {
  EXPECT_THROW(static_cast<void>(forest_figure(sample())), ConfigError);
  ReportInput validated = sample();
  validated.validation = {{.label = "Mass", .value = 0.75}};
  EXPECT_THAT(forest_figure(validated), HasSubstr("0.750"));
}

TEST(ReportPage, holds_no_folder_image_script_or_address) {
  ReportInput input = sample();
  input.scored = scored();
  const std::string page = report_page(input);
  for (const char* text : {"/home/somebody", "patient7", "<script", "http:", "https:", "src=", "href=", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(text))) << text;
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("weights.safetensors"));
}

TEST(ReportPage, curves_come_from_predictions_and_truth) {
  ReportInput input = sample();
  input.scored = scored();
  const std::string page = report_page(input);
  EXPECT_THAT(page, HasSubstr("Mass: 1.000"));
  EXPECT_THAT(page, HasSubstr("Mass: ECE 0.150"));
  EXPECT_THAT(page, HasSubstr("Hernia: no ROC curve, since only one class is there"));
}

TEST(ReportPage, evaluation_stands_with_intervals_and_other_images_are_told) {
  ReportInput input = sample();
  input.scored = scored();
  input.evaluation = Value::Table{
      {"auroc",
       Value::Table{
           {"mean", 0.8125},
           {"labels", Value::Table{{"<Mass>", Value::Table{{"auroc", 0.8125}, {"low", 0.75}, {"high", 0.875}}}}}}},
      {"split", Value::Table{{"list_sha256", "1157"}}}};
  const std::string page = report_page(input);
  EXPECT_THAT(page, HasSubstr("&lt;Mass&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<Mass>")));
  EXPECT_THAT(page, HasSubstr("(0.750 to 0.875)"));
  EXPECT_THAT(page, HasSubstr("other images than those of the results"));
  input.evaluation.set("split", Value::Table{{"list_sha256", "feed"}});
  EXPECT_THAT(report_page(input), Not(HasSubstr("other images than those of the results")));
}

TEST(ReportPage, says_why_a_figure_has_no_interval) {
  ReportInput input = sample();
  const Value few = Value::Table{{"auroc", 0.8125}, {"low", nullptr}, {"high", nullptr}, {"no_interval", "too few"}};
  input.evaluation = Value::Table{
      {"auroc", Value::Table{{"mean", 0.8125},
                             {"mean_low", nullptr},
                             {"mean_high", nullptr},
                             {"mean_no_interval", "of few"},
                             {"labels", Value::Table{{"<Mass>", few}, {"Edema", Value::Table{{"auroc", 0.75}}}}}}}};
  EXPECT_THAT(report_page(input), HasSubstr("<p>No interval. &lt;Mass&gt;: too few; Mean: of few.</p>"));
}

TEST(ReportPage, figures_of_images_that_the_run_has_seen_are_told) {
  ReportInput input = sample();
  input.scored = scored();
  const auto with_split = [&](const char* name) {
    input.data = Value::Table{{"splits", Value::Table{{name, Value::Table{{"list_sha256", "feed"}}}}}};
    return report_page(input);
  };
  EXPECT_THAT(with_split("val"), HasSubstr("best epoch was chosen on these very images"));
  EXPECT_THAT(with_split("train"), HasSubstr("how much was memorised"));
  EXPECT_THAT(with_split("test"), HasSubstr("split &quot;test&quot; of the run, "));
  const Value same = Value::Table{{"list_sha256", "feed"}};
  input.data = Value::Table{{"splits", Value::Table{{"train", same}, {"test", same}}}};
  EXPECT_THAT(report_page(input), HasSubstr("a list that is no split of the run")) << "names cannot tell which";
}

TEST(ReportPage, validation_figures_are_named_as_such) {
  ReportInput input = sample();
  input.validation = {{.label = "Mass", .value = 0.5}};
  EXPECT_THAT(report_page(input), HasSubstr("the epoch was chosen on these very images"));
}

TEST(ReportPage, refuses_tables_of_another_kind) {
  ReportInput input = sample();
  input.evaluation = Value::Table{{"points", 1}};
  EXPECT_THROW((void)report_page(input), ConfigError);
  input = sample();
  input.data = Value::Table{{"splits", 1}};
  EXPECT_THROW((void)report_page(input), ConfigError);
}

TEST(TrainingCurves, many_updates_become_means) {
  std::vector<Value> log;
  for (int i = 1; i <= 1000; ++i) log.push_back(step(i, i));
  const TrainingCurves curves = training_curves(log);
  EXPECT_EQ(curves.updates_a_point, 3);
  ASSERT_EQ(curves.update_loss.points.size(), 334U);
  EXPECT_EQ(curves.update_loss.points[0].y, 2.0);
  EXPECT_EQ(curves.update_loss.points.back().x, 1000.0);
  EXPECT_TRUE(curves.validation_auroc.points.empty());
}

}  // namespace
}  // namespace roentgen::publish
