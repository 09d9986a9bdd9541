// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the metrics of the table besides AUROC: values, means, intervals, omitted metrics, and text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "eval/calibration.h"
#include "eval/label_scores.h"
#include "eval/precision_recall.h"
#include "eval/prediction_testing.h"
#include "eval/table.h"
#include "eval/temperature.h"
#include "eval/top_k.h"

namespace roentgen::eval {
namespace {

using testing::HasSubstr;

constexpr std::size_t kMass = 0;
constexpr std::size_t kHernia = 2;

MetricRequest request_all(const Predictions& validation) {
  return {.metrics = all_metrics(), .points = fit_operating_points(validation, ThresholdRule::MaxF1)};
}

ScoreCounts counts_of(const RankedScores& ranked) { return ranked.count(); }

TEST(MetricTable, holds_the_figures_of_every_label) {
  const Predictions predictions = draw_patients(40, 1);
  const MetricRequest request = request_all(draw_patients(30, 2));
  const EvalTable table = evaluate(predictions, {.replicates = 0}, request);
  ASSERT_EQ(table.metrics.size(), metrics().size());
  const Clusters clusters = make_clusters(predictions.patients);
  const RankedScores mass = rank_label(predictions, kMass, clusters);
  const Confusion confusion = confusion_at(counts_of(mass), request.points->thresholds[kMass].value());
  const RankedScores scaled = rank_label(scaled_by(predictions, request.points->temperature.value()), kMass, clusters);
  const auto value = [&](Metric metric) { return table.find(metric)->labels[kMass].value.value(); };
  EXPECT_EQ(value(Metric::Auprc), average_precision(counts_of(mass)).value);
  EXPECT_EQ(value(Metric::SensitivityAtSpecificity90), sensitivity_at_specificity(counts_of(mass), 0.90).value);
  EXPECT_EQ(value(Metric::SensitivityAtSpecificity95), sensitivity_at_specificity(counts_of(mass), 0.95).value);
  EXPECT_EQ(value(Metric::SpecificityAtSensitivity90), specificity_at_sensitivity(counts_of(mass), 0.90).value);
  EXPECT_EQ(value(Metric::SpecificityAtSensitivity95), specificity_at_sensitivity(counts_of(mass), 0.95).value);
  EXPECT_EQ(value(Metric::F1), f1(confusion).value);
  EXPECT_EQ(value(Metric::Sensitivity), sensitivity(confusion).value);
  EXPECT_EQ(value(Metric::Specificity), specificity(confusion).value);
  EXPECT_EQ(value(Metric::Ppv), positive_predictive_value(confusion).value);
  EXPECT_EQ(value(Metric::Npv), negative_predictive_value(confusion).value);
  EXPECT_EQ(value(Metric::Brier), brier(counts_of(mass)).value);
  EXPECT_EQ(value(Metric::Ece), expected_calibration_error(counts_of(mass)).value);
  EXPECT_EQ(value(Metric::BrierScaled), brier(counts_of(scaled)).value);
  EXPECT_EQ(value(Metric::EceScaled), expected_calibration_error(counts_of(scaled)).value);
}

TEST(MetricTable, says_why_a_figure_is_undefined_and_leaves_it_out_of_the_mean) {
  const EvalTable table = evaluate(draw_patients(40, 1), {.replicates = 50}, request_all(draw_patients(30, 2)));
  const MetricColumn& auprc = *table.find(Metric::Auprc);
  EXPECT_EQ(auprc.labels[kHernia].value, std::nullopt);
  EXPECT_EQ(auprc.labels[kHernia].reason, kOneClass);
  EXPECT_EQ(table.labels[kHernia].auroc.reason, kOneClass);
  EXPECT_EQ(auprc.labels_in_mean, 2);
  EXPECT_DOUBLE_EQ(auprc.mean.value.value(), (*auprc.labels[0].value + *auprc.labels[1].value) / 2.0);
  EXPECT_EQ(table.find(Metric::F1)->labels[kHernia].reason, kNoThreshold);
  EXPECT_TRUE(table.find(Metric::Brier)->labels[kHernia].value.has_value());
  EXPECT_EQ(table.find(Metric::Brier)->labels_in_mean, 3);
}

TEST(MetricTable, has_neither_thresholds_nor_scaled_figures_without_validation) {
  const EvalTable table = evaluate(draw_patients(40, 1), {.replicates = 0}, {.metrics = all_metrics()});
  for (const MetricColumn& column : table.metrics) {
    EXPECT_EQ(info_of(column.metric).needs, MetricNeeds::Counts) << info_of(column.metric).key;
  }
  EXPECT_NE(table.find(Metric::Ece), nullptr);
  EXPECT_EQ(table.find(Metric::F1), nullptr);
  EXPECT_EQ(to_value(table).find("points"), nullptr);
}

TEST(MetricTable, says_why_nothing_could_be_scaled) {
  Predictions predictions = draw_patients(40, 1);
  MetricRequest request = request_all(draw_patients(30, 2));
  request.points->temperature.reset();
  const EvalTable without = evaluate(predictions, {.replicates = 0}, request);
  EXPECT_EQ(without.find(Metric::BrierScaled)->labels[kMass].reason, kNoTemperature);
  EXPECT_EQ(without.find(Metric::BrierScaled)->mean.reason, kNoLabel);
  for (float& score : predictions.probabilities) score += 1.0F;
  const EvalTable scores = evaluate(predictions, {.replicates = 0}, request_all(draw_patients(30, 2)));
  EXPECT_EQ(scores.find(Metric::EceScaled)->labels[kMass].reason, kNoProbabilities);
}

TEST(MetricTable, keeps_thresholds_and_temperature_of_validation_whatever_the_test) {
  const MetricRequest request = request_all(draw_patients(30, 2));
  const EvalTable table = evaluate(draw_patients(40, 1), {.replicates = 0}, request);
  EXPECT_EQ(table.points, request.points);
}

TEST(MetricTable, refuses_points_of_another_model) {
  MetricRequest request = request_all(draw_patients(30, 2));
  request.points->label_names[0] = "Nodule";
  EXPECT_THROW(static_cast<void>(evaluate(draw_patients(40, 1), {}, request)), ConfigError);
}

TEST(MetricTable, intervals_are_those_of_the_repeated_patients) {
  // Expected values of resample k: each image is repeated as often as its patient is drawn.
  const Predictions predictions = draw_patients(20, 3);
  const Clusters clusters = make_clusters(predictions.patients);
  std::vector<double> values;
  for (int replicate = 0; replicate < 40; ++replicate) {
    const std::vector<std::uint32_t> drawn = draw_clusters(clusters.count, 9, replicate);
    std::vector<float> scores;
    std::vector<std::uint8_t> labels;
    for (std::size_t i = 0; i < predictions.image_ids.size(); ++i) {
      scores.insert(scores.end(), drawn[clusters.index[i]], predictions.probabilities[i * 3]);
      labels.insert(labels.end(), drawn[clusters.index[i]], static_cast<std::uint8_t>(predictions.labels[i * 3]));
    }
    const RankedScores ranked(scores, labels);
    values.push_back(brier(ranked.count()).value);
  }
  const EvalTable table = evaluate(predictions, {.replicates = 40, .seed = 9}, {.metrics = {Metric::Brier}});
  const Interval expected = percentile_interval(values, 0.95).value();
  EXPECT_NEAR(table.metrics[0].labels[kMass].interval.value().low, expected.low, 1e-12);
  EXPECT_NEAR(table.metrics[0].labels[kMass].interval.value().high, expected.high, 1e-12);
}

TEST(MetricTable, mean_intervals_come_from_the_same_resamples) {
  Predictions twin = draw_patients(40, 1);
  for (std::size_t i = 0; i < twin.image_ids.size(); ++i) {
    for (const std::size_t k : {1, 2}) {
      twin.probabilities[i * 3 + k] = twin.probabilities[i * 3];
      twin.labels[i * 3 + k] = twin.labels[i * 3];
    }
  }
  const EvalTable table = evaluate(twin, {.replicates = 100}, request_all(twin));
  for (const MetricColumn& column : table.metrics) {
    ASSERT_TRUE(column.mean.interval.has_value()) << info_of(column.metric).key;
    EXPECT_NEAR(column.mean.interval->low, column.labels[0].interval->low, 1e-12) << info_of(column.metric).key;
    EXPECT_NEAR(column.mean.interval->high, column.labels[0].interval->high, 1e-12) << info_of(column.metric).key;
  }
}

TEST(MetricTable, does_not_change_with_threads_or_the_order_of_images) {
  const Predictions forward = draw_patients(40, 1);
  std::vector<std::size_t> rows(forward.image_ids.size());
  std::iota(rows.rbegin(), rows.rend(), 0);
  const MetricRequest request = request_all(draw_patients(30, 2));
  const Value one = to_value(evaluate(forward, {.replicates = 60}, request));
  EXPECT_EQ(to_value(evaluate(forward, {.replicates = 60, .threads = 3}, request)), one);
  EXPECT_EQ(to_value(evaluate(with_rows(forward, rows), {.replicates = 60}, request)), one);
}

TEST(MetricTable, asking_for_more_changes_no_auroc) {
  const Predictions predictions = draw_patients(40, 1);
  const Value plain = to_value(evaluate(predictions, {.replicates = 60}));
  EXPECT_EQ(to_value(evaluate(predictions, {.replicates = 60}, request_all(draw_patients(30, 2)))).at("auroc"),
            plain.at("auroc"));
}

// Permutes labels between patients; images of one patient keep a common label.
void permute_labels(Predictions& predictions, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  std::vector<std::size_t> order(predictions.image_ids.size() / kImagesEach);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[random.below(i + 1)]);
  const std::vector<std::int8_t> labels = predictions.labels;
  for (std::size_t i = 0; i < predictions.image_ids.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) predictions.labels[i * 3 + k] = labels[order[i / kImagesEach] * 9 + k];
  }
}

TEST(MetricTable, of_permuted_labels_says_one_half_within_the_interval) {
  constexpr int kPermutations = 60;
  int covered = 0;
  double sum = 0.0;
  for (int i = 0; i < kPermutations; ++i) {
    Predictions predictions = draw_patients(100, 4);
    permute_labels(predictions, static_cast<std::uint64_t>(i));
    const Estimate auroc = evaluate(predictions, {.replicates = 200}).labels[kMass].auroc;
    covered += auroc.interval.value().low <= 0.5 && 0.5 <= auroc.interval->high ? 1 : 0;
    sum += *auroc.value;
  }
  EXPECT_GE(covered, 52);                        // binomial(60, 0.94) has mean 56, standard deviation 1.8
  EXPECT_NEAR(sum / kPermutations, 0.5, 0.025);  // a single value has a standard deviation of 0.05
}

Predictions single_label() {
  Random random(6, RandomStage::Test);
  Predictions drawn{.label_names = {"a", "b", "c", "d", "e", "f", "g"}, .outputs = Outputs::Exclusive};
  for (int i = 0; i < 80; ++i) {
    drawn.image_ids.push_back(std::to_string(i));
    drawn.patients.push_back(i / 2);
    const std::uint64_t truth = random.below(7);
    for (std::uint64_t k = 0; k < 7; ++k) {
      drawn.labels.push_back(k == truth ? 1 : 0);
      drawn.probabilities.push_back(static_cast<float>((k == truth ? 0.02 : 0.0) + random.uniform() / 8.0));
    }
  }
  return drawn;
}

TEST(MetricTable, has_top_accuracies_of_single_label_sets) {
  const Predictions predictions = single_label();
  const EvalTable table = evaluate(predictions, {.replicates = 100}, {.metrics = {Metric::Auprc}});
  ASSERT_EQ(table.top.size(), 2U);
  const std::vector<double> credits = top_k_credits(predictions, 5);
  EXPECT_EQ(table.top[1].k, 5);
  EXPECT_NEAR(table.top[1].accuracy.value.value(), std::accumulate(credits.begin(), credits.end(), 0.0) / 80.0, 1e-12);
  EXPECT_LT(table.top[0].accuracy.interval.value().low, *table.top[0].accuracy.value);
  EXPECT_GT(table.top[0].accuracy.interval.value().high, *table.top[0].accuracy.value);
  EXPECT_TRUE(evaluate(draw_patients(20, 1), {.replicates = 0}, {.metrics = {Metric::Auprc}}).top.empty());
  EXPECT_THAT(to_text(table), HasSubstr("top-5 accuracy 0."));
  EXPECT_EQ(to_value(table).at("top").at("5").at("value").as_double(), *table.top[1].accuracy.value);
}

TEST(MetricTable, prints_auprc_beside_auroc_and_the_rest_apart) {
  const EvalTable table = evaluate(draw_patients(40, 1), {.replicates = 50}, request_all(draw_patients(30, 2)));
  const std::string text = to_text(table);
  EXPECT_THAT(text,
              HasSubstr("finding            AUROC     95% interval   AUPRC     95% interval  prev.  positives    n\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("Brier")));
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    EXPECT_LE(text.find('\n', begin) - begin, 100U);
  }
  const std::string details = details_text(table);
  for (const MetricInfo& info : metrics()) {
    if (info.metric == Metric::Auprc) continue;
    EXPECT_THAT(details, HasSubstr(info.title));
  }
  EXPECT_THAT(details, HasSubstr("Thresholds: from validation (90 images of 30 patients) by largest F1"));
  EXPECT_THAT(details, HasSubstr("F1 undefined, no threshold: validation has only one class: Hernia.\n"));
  EXPECT_EQ(details_text(evaluate(draw_patients(40, 1), {.replicates = 0})), "");
}

TEST(MetricTable, becomes_a_value_with_every_metric_by_its_key) {
  const Value value =
      to_value(evaluate(draw_patients(40, 1), {.replicates = 50}, request_all(draw_patients(30, 2)))).at("metrics");
  for (const MetricInfo& info : metrics()) {
    const Value& mass = value.at(info.key).at("labels").at("Mass");
    EXPECT_LE(mass.at("low").as_double(), mass.at("high").as_double()) << info.key;
  }
  const Value& hernia = value.at("auprc").at("labels").at("Hernia");
  EXPECT_TRUE(hernia.at("value").is_null());
  EXPECT_EQ(hernia.at("undefined"), Value(kOneClass));
}

}  // namespace
}  // namespace roentgen::eval
