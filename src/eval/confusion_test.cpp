// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/confusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "eval/score_testing.h"

namespace roentgen::eval {
namespace {

Confusion naive_confusion(const ScoredSamples& samples, double threshold) {
  Confusion confusion;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const bool is_called = static_cast<double>(samples.scores[i]) >= threshold;
    if (samples.is_positive(i)) {
      ++(is_called ? confusion.true_positives : confusion.false_negatives);
    } else {
      ++(is_called ? confusion.false_positives : confusion.true_negatives);
    }
  }
  return confusion;
}

TEST(Confusion, counts_scores_at_the_threshold_as_called) {
  const ScoredSamples samples = draw_samples(100, 10, 1);
  const Counted counted(samples);
  for (const double threshold : {-1.0, 0.0, 0.35, static_cast<double>(0.4F), 1.0, 2.0}) {
    EXPECT_EQ(confusion_at(counted.counts, threshold), naive_confusion(samples, threshold)) << threshold;
  }
}

TEST(Confusion, under_multiplicities_is_that_of_the_repeated_samples) {
  const ScoredSamples samples = draw_samples(100, 10, 2);
  const RankedScores ranked(samples.scores, samples.labels);
  EXPECT_EQ(confusion_at(resampled(ranked, samples), 0.35), naive_confusion(repeated(samples), 0.35));
}

TEST(Confusion, gives_the_rates_of_the_textbook) {
  const Confusion confusion{.true_positives = 6, .false_positives = 2, .false_negatives = 4, .true_negatives = 38};
  EXPECT_DOUBLE_EQ(sensitivity(confusion).value, 0.6);
  EXPECT_DOUBLE_EQ(specificity(confusion).value, 0.95);
  EXPECT_DOUBLE_EQ(positive_predictive_value(confusion).value, 0.75);
  EXPECT_DOUBLE_EQ(negative_predictive_value(confusion).value, 38.0 / 42.0);
  EXPECT_DOUBLE_EQ(f1(confusion).value, 2.0 * 0.75 * 0.6 / (0.75 + 0.6));
}

TEST(Confusion, has_undefined_rates_with_the_reason_and_never_zero) {
  const Confusion no_positives{.false_positives = 1, .true_negatives = 2};
  EXPECT_EQ(sensitivity(no_positives).reason, kOneClass);
  EXPECT_EQ(f1(no_positives).reason, kOneClass);
  EXPECT_EQ(specificity({.true_positives = 1}).reason, kOneClass);
  EXPECT_EQ(positive_predictive_value({.false_negatives = 1, .true_negatives = 2}).reason, kNothingCalled);
  EXPECT_EQ(negative_predictive_value({.true_positives = 1, .false_positives = 2}).reason, kAllCalled);
  EXPECT_EQ(sensitivity({}).reason, kNoImages);
  EXPECT_FALSE(sensitivity(no_positives).is_defined());
  EXPECT_EQ(f1({.false_negatives = 1, .true_negatives = 2}).value, 0.0);  // all positives are missed: F1 is 0, not
                                                                          // undefined
}

TEST(CurvePoints, are_the_confusions_at_every_distinct_score) {
  const ScoredSamples samples = draw_samples(60, 6, 5);
  const std::vector<CurvePoint> points = curve_points(Counted(samples).counts);
  ASSERT_GT(points.size(), 4U);
  EXPECT_EQ(points.front().threshold, std::numeric_limits<double>::infinity());
  for (const CurvePoint& point : points) EXPECT_EQ(point.confusion, naive_confusion(samples, point.threshold));
  EXPECT_TRUE(std::ranges::is_sorted(points, std::greater{}, &CurvePoint::threshold));
  EXPECT_EQ(points.back().confusion.false_negatives + points.back().confusion.true_negatives, 0);
}

// Returns the largest value of the rate `wanted` among all thresholds at which the rate `held` is at least `level`.
double naive_best(const ScoredSamples& samples, Figure (*wanted)(const Confusion&), Figure (*held)(const Confusion&),
                  double level) {
  double best = -1.0;
  std::vector<double> thresholds(samples.scores.begin(), samples.scores.end());
  thresholds.push_back(2.0);
  for (const double threshold : thresholds) {
    const Confusion confusion = naive_confusion(samples, threshold);
    if (held(confusion).value >= level - 1e-12) best = std::max(best, wanted(confusion).value);
  }
  return best;
}

TEST(OperatingPoint, is_the_best_of_the_curve_at_the_level) {
  for (const int levels : {2, 8, 1000}) {
    const ScoredSamples samples = draw_samples(90, levels, 6);
    const Counted counted(samples);
    for (const double level : {0.0, 0.5, 0.9, 0.95, 1.0}) {
      EXPECT_DOUBLE_EQ(sensitivity_at_specificity(counted.counts, level).value,
                       naive_best(samples, sensitivity, specificity, level));
      EXPECT_DOUBLE_EQ(specificity_at_sensitivity(counted.counts, level).value,
                       naive_best(samples, specificity, sensitivity, level));
    }
  }
}

TEST(OperatingPoint, holds_at_a_level_reached_exactly) {
  // Nine of ten negatives lie below the positive: specificity 0.9, except for its last bit.
  ScoredSamples samples{.scores = {0.5F}, .labels = {1}};
  for (int i = 0; i < 10; ++i) {
    samples.scores.push_back(i == 0 ? 0.9F : 0.1F);
    samples.labels.push_back(0);
  }
  EXPECT_EQ(sensitivity_at_specificity(Counted(samples).counts, 0.9).value, 1.0);
  EXPECT_EQ(sensitivity_at_specificity(Counted(samples).counts, 0.91).value, 0.0);
}

TEST(OperatingPoint, is_undefined_when_a_class_is_absent) {
  const Counted counted({.scores = {0.5F}, .labels = {1}});
  EXPECT_EQ(sensitivity_at_specificity(counted.counts, 0.9).reason, kOneClass);
  EXPECT_EQ(specificity_at_sensitivity(ScoreCounts{}, 0.9).reason, kNoImages);
}

TEST(Threshold, is_the_best_by_its_rule) {
  for (const std::uint64_t seed : {7, 8, 9}) {
    const ScoredSamples samples = draw_samples(80, 12, seed);
    const Counted counted(samples);
    double best_f1 = 0.0;
    double best_youden = -1.0;
    for (const float score : samples.scores) {
      const Confusion confusion = naive_confusion(samples, static_cast<double>(score));
      best_f1 = std::max(best_f1, f1(confusion).value);
      best_youden = std::max(best_youden, sensitivity(confusion).value + specificity(confusion).value - 1.0);
    }
    const auto at = [&](ThresholdRule rule) {
      return naive_confusion(samples, choose_threshold(counted.counts, rule).value());
    };
    EXPECT_DOUBLE_EQ(f1(at(ThresholdRule::MaxF1)).value, best_f1);
    const Confusion youden = at(ThresholdRule::Youden);
    EXPECT_DOUBLE_EQ(sensitivity(youden).value + specificity(youden).value - 1.0, best_youden);
  }
}

TEST(Threshold, is_the_highest_of_equally_good_ones) {
  // Youden's index is 0.5 at the thresholds 0.9 and 0.5, of which the higher should be chosen.
  const Counted counted({.scores = {0.9F, 0.7F, 0.5F, 0.1F}, .labels = {1, 0, 1, 0}});
  EXPECT_EQ(choose_threshold(counted.counts, ThresholdRule::Youden), static_cast<double>(0.9F));
}

TEST(Threshold, is_none_when_a_class_is_absent) {
  EXPECT_EQ(choose_threshold(Counted({.scores = {0.5F}, .labels = {0}}).counts, ThresholdRule::MaxF1), std::nullopt);
}

TEST(Threshold, has_rules_by_name) {
  EXPECT_EQ(parse_threshold_rule("youden"), ThresholdRule::Youden);
  EXPECT_EQ(parse_threshold_rule("f1"), ThresholdRule::MaxF1);
  EXPECT_THROW(static_cast<void>(parse_threshold_rule("best")), ConfigError);
}

}  // namespace
}  // namespace roentgen::eval
