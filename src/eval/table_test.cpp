// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/random.h"
#include "eval/auroc.h"

namespace roentgen::eval {
namespace {

// Draws predictions for `images` images of images / 3 patients. "Mass" is predicted well and "Edema" at random, with a
// tenth of its truth unknown; "Hernia" has no positive.
Predictions draw_predictions(int images) {
  Random random(5, RandomStage::Test);
  Predictions drawn{.label_names = {"Mass", "Edema", "Hernia"}};
  for (int i = 0; i < images; ++i) {
    drawn.image_ids.push_back(std::to_string(i) + ".png");
    drawn.patients.push_back(i / 3);
    const bool has_mass = random.chance(0.3);
    const bool is_known = random.chance(0.9);
    const std::int8_t edema = random.chance(0.5) ? 1 : 0;
    drawn.labels.insert(drawn.labels.end(), {static_cast<std::int8_t>(has_mass), is_known ? edema : kUnknown, 0});
    drawn.probabilities.push_back(static_cast<float>((has_mass ? 1.0 : 0.0) + random.normal()));
    drawn.probabilities.push_back(static_cast<float>(random.uniform()));
    drawn.probabilities.push_back(static_cast<float>(random.uniform()));
  }
  return drawn;
}

void append_row(Predictions& to, const Predictions& from, std::size_t row, const std::string& id) {
  const auto labels = std::ssize(from.label_names);
  const auto start = static_cast<std::ptrdiff_t>(row) * labels;
  to.image_ids.push_back(id);
  to.patients.push_back(from.patients[row]);
  to.probabilities.insert(to.probabilities.end(), from.probabilities.begin() + start,
                          from.probabilities.begin() + start + labels);
  to.labels.insert(to.labels.end(), from.labels.begin() + start, from.labels.begin() + start + labels);
}

void expect_same_estimates(const EvalTable& a, const EvalTable& b) {
  ASSERT_EQ(a.labels.size(), b.labels.size());
  for (std::size_t i = 0; i < a.labels.size(); ++i) {
    EXPECT_EQ(a.labels[i].auroc.value, b.labels[i].auroc.value) << a.labels[i].label;
    EXPECT_EQ(a.labels[i].auroc.interval, b.labels[i].auroc.interval) << a.labels[i].label;
  }
  EXPECT_EQ(a.mean.value, b.mean.value);
  EXPECT_EQ(a.mean.interval, b.mean.interval);
}

TEST(EvalTable, holds_the_auroc_of_the_images_with_known_truth) {
  const Predictions predictions = draw_predictions(90);
  const EvalTable table = evaluate(predictions, {.replicates = 50});
  std::vector<float> scores;
  std::vector<std::uint8_t> labels;
  for (std::size_t i = 0; i < 90; ++i) {
    if (predictions.labels[i * 3 + 1] == kUnknown) continue;
    scores.push_back(predictions.probabilities[i * 3 + 1]);
    labels.push_back(static_cast<std::uint8_t>(predictions.labels[i * 3 + 1]));
  }
  EXPECT_EQ(table.labels[1].label, "Edema");
  EXPECT_EQ(table.labels[1].auroc.value, auroc(scores, labels));
  EXPECT_EQ(table.labels[1].n, std::ssize(labels));
  EXPECT_EQ(table.labels[1].positives, std::accumulate(labels.begin(), labels.end(), 0));
  EXPECT_LT(table.labels[1].n, 90);
  EXPECT_EQ(table.images, 90);
  EXPECT_EQ(table.patients, 30);
}

TEST(EvalTable, leaves_a_label_with_one_class_out_of_the_mean) {
  const EvalTable table = evaluate(draw_predictions(90), {.replicates = 50});
  EXPECT_EQ(table.labels[2].auroc.value, std::nullopt);
  EXPECT_EQ(table.labels[2].auroc.interval, std::nullopt);
  EXPECT_EQ(table.labels[2].positives, 0);
  EXPECT_EQ(table.labels_in_mean, 2);
  EXPECT_DOUBLE_EQ(table.mean.value.value(), (*table.labels[0].auroc.value + *table.labels[1].auroc.value) / 2.0);
}

TEST(EvalTable, intervals_hold_the_estimate_and_the_means_is_narrower_than_the_widest) {
  const EvalTable table = evaluate(draw_predictions(300), {.replicates = 200});
  double widest = 0.0;
  for (int i = 0; i < 2; ++i) {
    const Estimate& estimate = table.labels[static_cast<std::size_t>(i)].auroc;
    EXPECT_LT(estimate.interval.value().low, *estimate.value);
    EXPECT_GT(estimate.interval.value().high, *estimate.value);
    widest = std::max(widest, estimate.interval->high - estimate.interval->low);
  }
  EXPECT_LT(table.mean.interval.value().high - table.mean.interval->low, widest);
}

TEST(EvalTable, mean_interval_comes_from_the_same_resamples_as_the_labels) {
  // Two copies of one label. Separate resamples would give their mean a narrower interval.
  Predictions twin = draw_predictions(90);
  for (std::size_t i = 0; i < 90; ++i) {
    twin.probabilities[i * 3 + 1] = twin.probabilities[i * 3];
    twin.labels[i * 3 + 1] = twin.labels[i * 3];
  }
  const EvalTable table = evaluate(twin, {.replicates = 200});
  EXPECT_EQ(table.mean.interval, table.labels[0].auroc.interval);
}

TEST(EvalTable, does_not_change_when_every_image_of_each_patient_is_repeated) {
  const Predictions once = draw_predictions(90);
  Predictions twice = once;
  for (std::size_t i = 0; i < 90; ++i) append_row(twice, once, i, once.image_ids[i] + " again");
  expect_same_estimates(evaluate(once, {.replicates = 100}), evaluate(twice, {.replicates = 100}));
}

TEST(EvalTable, does_not_change_with_the_order_of_images_or_the_number_of_threads) {
  const Predictions forward = draw_predictions(90);
  Predictions backward{.label_names = forward.label_names};
  for (std::size_t i = 90; i-- > 0;) append_row(backward, forward, i, forward.image_ids[i]);
  const EvalTable table = evaluate(forward, {.replicates = 100});
  expect_same_estimates(table, evaluate(backward, {.replicates = 100}));
  expect_same_estimates(table, evaluate(forward, {.replicates = 100, .threads = 3}));
}

TEST(EvalTable, counts_replicates_in_which_a_label_is_undefined) {
  // Only one of thirty patients has Mass, so (29/30)^30 = 36% of resamples lack it; the count has a standard deviation
  // of 11.
  Predictions rare = draw_predictions(90);
  for (std::size_t i = 0; i < 90; ++i) rare.labels[i * 3] = i == 0 ? 1 : 0;
  const EvalTable table = evaluate(rare, {.replicates = 500});
  EXPECT_NEAR(static_cast<double>(table.labels[0].auroc.replicates_left_out), 181.0, 54.0);
  EXPECT_EQ(table.labels[1].auroc.replicates_left_out, 0);
  EXPECT_EQ(table.mean.replicates_left_out, table.labels[0].auroc.replicates_left_out);
  EXPECT_EQ(table.labels[0].auroc.interval, std::nullopt);
}

// Returns predictions for 30 patients with three images each, of which the first `with` patients have "Mass".
Predictions with_mass(std::int64_t with) {
  Predictions drawn = draw_predictions(90);
  for (std::size_t i = 0; i < 90; ++i) drawn.labels[i * 3] = drawn.patients[i] < with ? 1 : 0;
  for (float& score : drawn.probabilities) score = std::clamp(score, 0.0F, 1.0F);
  return drawn;
}

TEST(EvalTable, has_no_interval_of_a_class_of_fewer_than_five_patients) {
  for (const std::int64_t enough : {5, 25}) {
    const EvalTable table = evaluate(with_mass(enough), {.replicates = 200});
    EXPECT_TRUE(table.labels[0].auroc.interval.has_value()) << enough;
    EXPECT_TRUE(table.mean.interval.has_value()) << enough;
  }
  for (const std::int64_t few : {4, 26}) {
    const EvalTable table = evaluate(with_mass(few), {.replicates = 200}, {.metrics = all_metrics()});
    EXPECT_TRUE(table.labels[0].auroc.value.has_value()) << few;
    EXPECT_EQ(table.labels[0].auroc.interval, std::nullopt) << few;
    EXPECT_EQ(table.labels[0].auroc.no_interval, kFewPatients);
    EXPECT_TRUE(table.labels[1].auroc.interval.has_value()) << "the other finding has enough";
    EXPECT_EQ(table.mean.interval, std::nullopt);
    EXPECT_EQ(table.mean.no_interval, kMeanOfFewPatients);
    EXPECT_EQ(table.find(Metric::Auprc)->labels[0].interval, std::nullopt);
    EXPECT_TRUE(table.find(Metric::Brier)->labels[0].interval.has_value()) << "of all images, whatever their class";
    EXPECT_NE(to_text(table).find("No interval, fewer than 5 patients have the finding, or lack it: Mass.\n"),
              std::string::npos);
    const Value value = to_value(table).at("auroc");
    EXPECT_TRUE(value.at("labels").at("Mass").at("low").is_null());
    EXPECT_EQ(value.at("labels").at("Mass").at("no_interval"), Value(kFewPatients));
    EXPECT_EQ(value.at("mean_no_interval"), Value(kMeanOfFewPatients));
    EXPECT_EQ(value.at("labels").at("Edema").find("no_interval"), nullptr);
  }
}

// Makes a column of 100 resamples, of which `count` are undefined.
Replicates undefined_in(std::size_t count) {
  Replicates replicates{.columns = 1, .values = std::vector<double>(100, 0.5)};
  std::fill_n(replicates.values.begin(), count, std::numeric_limits<double>::quiet_NaN());
  return replicates;
}

TEST(Estimate, has_no_interval_where_more_than_a_tenth_of_the_resamples_is_undefined) {
  const Estimate enough = estimate_from(0.5, undefined_in(10), 0, 0.95, {});
  EXPECT_EQ(enough.interval, (Interval{.low = 0.5, .high = 0.5}));
  EXPECT_EQ(enough.replicates_left_out, 10);
  const Estimate often = estimate_from(0.5, undefined_in(11), 0, 0.95, {});
  EXPECT_EQ(often.value, 0.5);
  EXPECT_EQ(often.interval, std::nullopt);
  EXPECT_EQ(often.no_interval, kOftenUndefined);
  EXPECT_EQ(often.replicates_left_out, 11);
}

TEST(EvalTable, has_no_intervals_without_replicates_or_with_one_patient) {
  const Predictions predictions = draw_predictions(90);
  EXPECT_EQ(evaluate(predictions, {.replicates = 0}).mean.interval, std::nullopt);
  EXPECT_EQ(evaluate(predictions, {.replicates = 0}).labels[0].auroc.replicates_left_out, 0);
  Predictions alone = predictions;
  std::ranges::fill(alone.patients, 1);
  const EvalTable table = evaluate(alone, {.replicates = 100});
  EXPECT_TRUE(table.mean.value.has_value());
  EXPECT_EQ(table.mean.interval, std::nullopt);
  EXPECT_EQ(table.labels[0].auroc.interval, std::nullopt);
}

TEST(EvalTable, of_no_images_is_undefined_throughout) {
  const EvalTable table = evaluate({.label_names = {"Mass"}}, {.replicates = 10});
  EXPECT_EQ(table.labels.at(0).auroc.value, std::nullopt);
  EXPECT_EQ(table.labels.at(0).n, 0);
  EXPECT_EQ(table.mean.value, std::nullopt);
  EXPECT_EQ(table.labels_in_mean, 0);
  EXPECT_NE(to_text(table).find("mean over 0 of 1"), std::string::npos);
}

TEST(EvalTable, refuses_probabilities_that_are_not_finite) {
  Predictions predictions = draw_predictions(30);
  predictions.probabilities[4] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(static_cast<void>(evaluate(predictions)), DataError);
}

// Makes a table with chosen values, to test the printed text.
EvalTable by_hand() {
  EvalTable table;
  table.labels = {{.label = "Atelectasis",
                   .auroc = {.value = 0.81624, .interval = Interval{0.80312, 0.82901}},
                   .positives = 3279,
                   .n = 25596},
                  {.label = "Hernia", .auroc = {}, .positives = 0, .n = 25596},
                  {.label = "Pleural_Thickening",
                   .auroc = {.value = 0.75, .interval = Interval{0.5, 1.0}, .replicates_left_out = 12},
                   .positives = 2,
                   .n = 140}};
  table.mean = {.value = 0.78312, .interval = Interval{0.65, 0.9}, .replicates_left_out = 12};
  table.labels_in_mean = 2;
  table.images = 25596;
  table.patients = 2797;
  return table;
}

TEST(EvalTable, tells_labels_that_are_known_of_no_image_apart) {
  EvalTable table = by_hand();
  table.labels[1].n = 0;
  EXPECT_NE(to_text(table).find("\nNot known of any image here, and left out of the mean: Hernia.\n"),
            std::string::npos);
  EXPECT_EQ(to_text(table).find("only one class"), std::string::npos);
}

TEST(EvalTable, prints_aligned_with_footnotes) {
  EXPECT_EQ(to_text(by_hand()),
            "finding              AUROC     95% interval  prev.  positives       n\n"
            "---------------------------------------------------------------------\n"
            "Atelectasis         0.8162  0.8031 - 0.8290  12.8%      3,279  25,596\n"
            "Hernia                   -                -   0.0%          0  25,596\n"
            "Pleural_Thickening  0.7500  0.5000 - 1.0000   1.4%          2     140\n"
            "---------------------------------------------------------------------\n"
            "mean over 2 of 3    0.7831  0.6500 - 0.9000\n"
            "Undefined, because only one class is present, and left out of the mean: Hernia.\n"
            "95% intervals: percentile bootstrap over 2,797 patients, 1,000 replicates, seed 0.\n"
            "Pleural_Thickening: undefined in 12 of 1,000 replicates, which are left out of its interval.\n"
            "mean: undefined in 12 of 1,000 replicates, which are left out of its interval.\n");
}

TEST(EvalTable, prints_labels_on_one_line_each_without_control_characters) {
  EvalTable table = by_hand();
  table.labels[1].label = "new\nline\x1b[31m";
  const std::string text = to_text(table);
  EXPECT_NE(text.find("\nnew\\nline\\x1b[31m   "), std::string::npos) << text;
  EXPECT_NE(text.find("left out of the mean: new\\nline\\x1b[31m.\n"), std::string::npos) << text;
}

TEST(EvalTable, prints_no_interval_and_the_reason) {
  EvalTable table = by_hand();
  table.mean = {.value = 0.78312, .replicates_left_out = 120, .no_interval = kOftenUndefined};
  const std::string text = to_text(table);
  EXPECT_NE(text.find("mean over 2 of 3    0.7831                -\n"), std::string::npos);
  EXPECT_NE(text.find("No interval, undefined in more than 10% of the resamples: mean.\n"), std::string::npos);
  EXPECT_EQ(text.find("mean: undefined in"), std::string::npos);
}

TEST(EvalTable, says_why_there_are_no_intervals) {
  EvalTable table = by_hand();
  table.patients = 1;
  EXPECT_NE(to_text(table).find("No intervals: they need two patients or more."), std::string::npos);
  table.bootstrap.replicates = 0;
  EXPECT_NE(to_text(table).find("No intervals: 0 bootstrap replicates."), std::string::npos);
}

TEST(EvalTable, becomes_the_promised_value_with_null_and_a_reason_for_undefined) {
  EvalTable table = by_hand();
  table.labels[1].auroc.reason = kOneClass;
  Value labels = Value::table();
  labels.set("Atelectasis", Value::Table{{"auroc", 0.81624},
                                         {"low", 0.80312},
                                         {"high", 0.82901},
                                         {"positives", 3279},
                                         {"n", 25596},
                                         {"prevalence", 3279.0 / 25596.0}});
  labels.set("Hernia", Value::Table{{"auroc", nullptr},
                                    {"low", nullptr},
                                    {"high", nullptr},
                                    {"positives", 0},
                                    {"n", 25596},
                                    {"prevalence", 0.0},
                                    {"undefined", kOneClass}});
  labels.set("Pleural_Thickening", Value::Table{{"auroc", 0.75},
                                                {"low", 0.5},
                                                {"high", 1.0},
                                                {"positives", 2},
                                                {"n", 140},
                                                {"prevalence", 2.0 / 140.0},
                                                {"left_out", 12}});
  const Value auroc = Value::Table{{"mean", 0.78312},     {"mean_low", 0.65},  {"mean_high", 0.9},
                                   {"labels_in_mean", 2}, {"labels_total", 3}, {"labels", labels}};
  const Value bootstrap = Value::Table{{"method", "percentile bootstrap over patients"},
                                       {"level", 0.95},
                                       {"replicates", 1000},
                                       {"seed", 0},
                                       {"patients", 2797}};
  EXPECT_EQ(to_value(table), Value(Value::Table{{"auroc", auroc}, {"bootstrap", bootstrap}}));
}

}  // namespace
}  // namespace roentgen::eval
