// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/precision_recall.h"

#include <gtest/gtest.h>

#include <set>

#include "eval/score_testing.h"

namespace roentgen::eval {
namespace {

constexpr double kTolerance = 1e-12;  // bound for sums in double of at most 300 ratios

// Average precision by definition: over descending distinct thresholds, increase of recall times precision.
double naive_average_precision(const ScoredSamples& samples) {
  const std::set<float, std::greater<>> thresholds(samples.scores.begin(), samples.scores.end());
  double sum = 0.0;
  double recall_before = 0.0;
  for (const float threshold : thresholds) {
    double found = 0.0;
    double called = 0.0;
    double positives = 0.0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      positives += samples.is_positive(i) ? 1.0 : 0.0;
      if (samples.scores[i] < threshold) continue;
      called += 1.0;
      found += samples.is_positive(i) ? 1.0 : 0.0;
    }
    sum += (found / positives - recall_before) * (found / called);
    recall_before = found / positives;
  }
  return sum;
}

TEST(AveragePrecision, agrees_with_its_definition_under_ties) {
  for (const int levels : {1, 2, 5, 1000}) {
    const ScoredSamples samples = draw_samples(120, levels, 3);
    EXPECT_NEAR(average_precision(Counted(samples).counts).value, naive_average_precision(samples), kTolerance);
  }
}

TEST(AveragePrecision, under_multiplicities_is_that_of_the_repeated_samples) {
  const ScoredSamples samples = draw_samples(120, 7, 4);
  const RankedScores ranked(samples.scores, samples.labels);
  EXPECT_NEAR(average_precision(resampled(ranked, samples)).value, naive_average_precision(repeated(samples)),
              kTolerance);
}

TEST(AveragePrecision, of_equal_scores_is_the_prevalence) {
  const Counted counted({.scores = {0.5F, 0.5F, 0.5F, 0.5F}, .labels = {1, 0, 0, 0}});
  EXPECT_EQ(average_precision(counted.counts).value, 0.25);
  EXPECT_EQ(prevalence(counted.counts).value, 0.25);
}

TEST(AveragePrecision, is_undefined_with_a_reason_when_a_class_is_absent) {
  for (const std::uint8_t label : {std::uint8_t{0}, std::uint8_t{1}}) {
    const Counted counted({.scores = {0.1F, 0.2F}, .labels = {label, label}});
    const Figure figure = average_precision(counted.counts);
    EXPECT_FALSE(figure.is_defined());
    EXPECT_EQ(figure.reason, kOneClass);
    EXPECT_EQ(prevalence(counted.counts).value, label);
  }
  EXPECT_EQ(average_precision(ScoreCounts{}).reason, kNoImages);
  EXPECT_EQ(prevalence(ScoreCounts{}).reason, kNoImages);
}

}  // namespace
}  // namespace roentgen::eval
