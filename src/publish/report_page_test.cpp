// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that the page shows all its inputs, names missing inputs, and loads no other files.
#include "publish/report_page.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "eval/comparison.h"

namespace roentgen::publish {
namespace {

using testing::HasSubstr;
using testing::Not;

Value step(int number, double loss) {
  return Value::Table{{"kind", "step"}, {"step", number}, {"loss", loss}, {"lr", 0.01}};
}

ReportRun sample_run() {
  return {.name = "baseline",
          .recipe = Value::Table{{"model", Value::Table{{"name", "resnet18"}, {"file", ""}}},
                                 {"train", Value::Table{{"init", "/home/somebody/weights.safetensors"}}}},
          .log = {step(1, 0.7), step(2, 0.5),
                  Value::Table{{"kind", "epoch"}, {"step", 2}, {"val_loss", 0.6}, {"val_auroc", 0.8}}}};
}

ReportInput sample() { return {.runs = {sample_run()}}; }

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
  empty.runs[0].log.clear();
  EXPECT_THAT(report_page(empty), HasSubstr("no finished update"));
}

TEST(ForestFigure, needs_aurocs) {
  EXPECT_THROW(static_cast<void>(forest_figure(sample())), ConfigError);
  ReportInput validated = sample();
  validated.runs[0].validation = {{.label = "Mass", .value = 0.75}};
  EXPECT_THAT(forest_figure(validated), HasSubstr("0.750"));
}

TEST(ReportPage, holds_no_folder_image_script_or_address) {
  ReportInput input = sample();
  input.runs[0].scored = scored();
  const std::string page = report_page(input);
  for (const char* text : {"/home/somebody", "patient7", "<script", "http:", "https:", "src=", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(text))) << text;
  }
  for (std::size_t at = page.find("href="); at != std::string::npos; at = page.find("href=", at + 1)) {
    EXPECT_EQ(page.substr(at, 7), "href=\"#") << "links stay on the page";
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("weights.safetensors"));
}

TEST(ReportPage, curves_come_from_predictions_and_truth) {
  ReportInput input = sample();
  input.runs[0].scored = scored();
  const std::string page = report_page(input);
  EXPECT_THAT(page, HasSubstr("Mass: 1.000"));
  EXPECT_THAT(page, HasSubstr("Mass: ECE 0.150"));
  EXPECT_THAT(page, HasSubstr("Hernia: no ROC curve, since only one class is there"));
}

TEST(ReportPage, evaluation_stands_with_intervals_and_other_images_are_told) {
  ReportInput input = sample();
  input.runs[0].scored = scored();
  input.runs[0].evaluation = Value::Table{
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
  input.runs[0].evaluation.set("split", Value::Table{{"list_sha256", "feed"}});
  EXPECT_THAT(report_page(input), Not(HasSubstr("other images than those of the results")));
}

TEST(ReportPage, says_why_a_figure_has_no_interval) {
  ReportInput input = sample();
  const Value few = Value::Table{{"auroc", 0.8125}, {"low", nullptr}, {"high", nullptr}, {"no_interval", "too few"}};
  input.runs[0].evaluation = Value::Table{
      {"auroc", Value::Table{{"mean", 0.8125},
                             {"mean_low", nullptr},
                             {"mean_high", nullptr},
                             {"mean_no_interval", "of few"},
                             {"labels", Value::Table{{"<Mass>", few}, {"Edema", Value::Table{{"auroc", 0.75}}}}}}}};
  EXPECT_THAT(report_page(input),
              HasSubstr("<p>No interval, of few: Mean.\nNo interval, too few: &lt;Mass&gt;.\n</p>"));
}

TEST(ReportPage, figures_of_images_that_the_run_has_seen_are_told) {
  ReportInput input = sample();
  input.runs[0].scored = scored();
  const auto with_split = [&](const char* name) {
    input.runs[0].data = Value::Table{{"splits", Value::Table{{name, Value::Table{{"list_sha256", "feed"}}}}}};
    return report_page(input);
  };
  EXPECT_THAT(with_split("val"), HasSubstr("best epoch was chosen on these very images"));
  EXPECT_THAT(with_split("train"), HasSubstr("these metrics show memorisation"));
  EXPECT_THAT(with_split("test"), HasSubstr("split &quot;test&quot; of the run, "));
  const Value same = Value::Table{{"list_sha256", "feed"}};
  input.runs[0].data = Value::Table{{"splits", Value::Table{{"train", same}, {"test", same}}}};
  EXPECT_THAT(report_page(input), HasSubstr("a list that is no split of the run")) << "names cannot tell which";
}

TEST(ReportPage, validation_figures_are_named_as_such) {
  ReportInput input = sample();
  input.runs[0].validation = {{.label = "Mass", .value = 0.5}};
  EXPECT_THAT(report_page(input), HasSubstr("the epoch was chosen on these very images"));
}

TEST(ReportPage, refuses_tables_of_another_kind) {
  ReportInput input = sample();
  input.runs[0].evaluation = Value::Table{{"points", 1}};
  EXPECT_THROW((void)report_page(input), ConfigError);
  input = sample();
  input.runs[0].data = Value::Table{{"splits", 1}};
  EXPECT_THROW((void)report_page(input), ConfigError);
}

TEST(ReportPage, names_the_run_and_links_every_section_that_it_lists) {
  ReportInput input = sample();
  input.runs[0].name = "<base>";
  const std::string page = report_page(input);
  EXPECT_THAT(page, HasSubstr("<title>Training report: &lt;base&gt;</title>"));
  EXPECT_THAT(page, HasSubstr("<h1>Training report: &lt;base&gt;</h1>"));
  for (const char* id : {"results", "thresholds", "curves", "training", "gallery", "data", "recipe"}) {
    EXPECT_THAT(page, HasSubstr(fmt::format("href=\"#{}\"", id)));
    EXPECT_THAT(page, HasSubstr(fmt::format("id=\"{}\"", id)));
  }
}

Value at_threshold(double value) {
  return Value::Table{
      {"labels", Value::Table{{"Mass", Value::Table{{"value", value}, {"low", 0.25}, {"high", 0.875}}}}}};
}

// Returns an evaluation of 40 images, of which 8 are positive. At the threshold, 6 positives and 4 negatives are called
// positive.
Value evaluation_with_points() {
  const Value row = Value::Table{{"auroc", 0.8125}, {"low", 0.75}, {"high", 0.875}, {"positives", 8}, {"n", 40}};
  return Value::Table{{"auroc", Value::Table{{"mean", 0.8125}, {"labels", Value::Table{{"Mass", row}}}}},
                      {"metrics", Value::Table{{"sensitivity", at_threshold(0.75)},
                                               {"specificity", at_threshold(0.875)},
                                               {"ppv", at_threshold(0.6)},
                                               {"npv", at_threshold(28.0 / 30.0)}}},
                      {"points", Value::Table{{"rule", "f1"},
                                              {"thresholds", Value::Table{{"Mass", 0.4375}}},
                                              {"fitted_on", Value::Table{{"images", 1200}}}}}};
}

TEST(ReportPage, thresholds_stand_with_rates_and_whole_counts) {
  ReportInput input = sample();
  EXPECT_THAT(report_page(input), HasSubstr("No thresholds: they come with --evaluation"));
  input.runs[0].evaluation = evaluation_with_points();
  const std::string page = report_page(input);
  EXPECT_THAT(page, HasSubstr("Chosen by F1 on 1200 validation images"));
  EXPECT_THAT(page, HasSubstr("<td>Mass</td><td class=\"n\">0.438</td><td class=\"n\">0.750 (0.250 to 0.875)</td>"
                              "<td class=\"n\">0.875 (0.250 to 0.875)</td>"));
  EXPECT_THAT(page,
              HasSubstr("<td class=\"n\">6</td><td class=\"n\">4</td><td class=\"n\">2</td><td class=\"n\">28</td>"));
}

TEST(ReportPage, rows_of_studies_are_called_studies) {
  ReportInput input = sample();
  Value evaluation = evaluation_with_points();
  Value points = evaluation.at("points");
  points.set("unit", "study, max");
  evaluation.set("points", std::move(points));
  evaluation.set("unit", "study, max");
  input.runs[0].evaluation = std::move(evaluation);
  input.runs[0].scored = scored();
  const std::string page = report_page(input);
  for (const char* text :
       {"One row a study, max.", "known studies", "on 1200 validation studies, not on the evaluated studies",
        "calls on the evaluated studies", "These curves are by image, the results above by study"}) {
    EXPECT_THAT(page, HasSubstr(text)) << text;
  }
  EXPECT_THAT(page, Not(HasSubstr("evaluated images")));
}

// Returns the page's input for two runs on the same images.
ReportInput two_runs() {
  ReportInput input{.runs = {sample_run(), sample_run()}};
  input.runs[1].name = "wide";
  for (ReportRun& run : input.runs) run.scored = scored();
  eval::Predictions& second = input.runs[1].scored->predictions;
  second.probabilities[2] = 0.15F;  // gives a positive image a lower score than a negative image
  input.comparison = eval::compare(input.runs[0].scored->predictions, second, {.replicates = 20});
  input.comparison->labels[0].delta.interval = eval::Interval{.low = -0.5, .high = 0.125};
  input.recipe_differences = Value::Table{{"optimizer.lr", Value::Table{{"a", 0.1}, {"b", 0.2}}}};
  return input;
}

TEST(ReportPage, two_runs_share_tables_and_plots) {
  const std::string page = report_page(two_runs());
  for (const char* text : {"Training report: baseline beside wide", "A: baseline", "B: wide", "B - A (95% interval)",
                           "Differences are B - A", "A 1.000", "B 0.750", "A training", "B validation AUROC",
                           "optimizer.lr", "-0.250 (-0.500 to +0.125)"}) {
    EXPECT_THAT(page, HasSubstr(text)) << text;
  }
  EXPECT_THAT(page, HasSubstr("<p>B - A: no value, only one class is present: Hernia.\nB - A: no interval and no p, a "
                              "finding in it has too few patients: Mean.\nB - A: no interval and no p, fewer than 5 "
                              "patients have the finding, or lack it: Mass.\n</p>"));
  ReportInput alone = two_runs();
  alone.comparison->patients = 1;
  EXPECT_THAT(report_page(alone), HasSubstr("B - A: no interval and no p. They need two patients or more."));
  ReportInput unpaired = two_runs();
  unpaired.comparison.reset();
  unpaired.runs[0].validation = unpaired.runs[1].validation = {{.label = "Mass", .value = 0.5}};
  EXPECT_THAT(report_page(unpaired), HasSubstr("No differences: they are paired by patient"));
}

TEST(ForestFigure, puts_two_runs_on_one_axis) {
  const std::string svg = forest_figure(two_runs());
  EXPECT_THAT(svg, HasSubstr("A: baseline"));
  EXPECT_THAT(svg, HasSubstr("B: wide"));
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
