// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/calibration.h"

#include <gtest/gtest.h>

#include "eval/score_testing.h"

namespace roentgen::eval {
namespace {

constexpr double kTolerance = 1e-12;  // rounding error of sums in double of at most 300 terms below 1

double naive_brier(const ScoredSamples& samples) {
  double sum = 0.0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double error = static_cast<double>(samples.scores[i]) - samples.labels[i];
    sum += error * error;
  }
  return sum / static_cast<double>(samples.size());
}

// Expected calibration error by definition, bin by bin.
double naive_ece(const ScoredSamples& samples) {
  double sum = 0.0;
  for (int bin = 0; bin < kReliabilityBins; ++bin) {
    double n = 0.0;
    double truth = 0.0;
    double probability = 0.0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double scaled = static_cast<double>(samples.scores[i]) * kReliabilityBins;
      const bool is_last = bin == kReliabilityBins - 1;
      if (scaled < bin || (scaled >= bin + 1 && !is_last)) continue;
      n += 1.0;
      truth += samples.labels[i];
      probability += static_cast<double>(samples.scores[i]);
    }
    if (n > 0.0) sum += n * std::abs(truth / n - probability / n);
  }
  return sum / static_cast<double>(samples.size());
}

TEST(Brier, is_the_mean_squared_error) {
  const ScoredSamples samples = draw_samples(150, 40, 1);
  EXPECT_NEAR(brier(Counted(samples).counts).value, naive_brier(samples), kTolerance);
  const RankedScores ranked(samples.scores, samples.labels);
  EXPECT_NEAR(brier(resampled(ranked, samples)).value, naive_brier(repeated(samples)), kTolerance);
}

TEST(Brier, is_defined_for_one_class_but_not_for_scores_that_are_no_probabilities) {
  EXPECT_NEAR(brier(Counted({.scores = {0.5F}, .labels = {0}}).counts).value, 0.25, kTolerance);
  for (const float score : {-0.1F, 1.1F}) {
    EXPECT_EQ(brier(Counted({.scores = {score, 0.5F}, .labels = {0, 1}}).counts).reason, kNoProbabilities);
  }
  EXPECT_EQ(brier(ScoreCounts{}).reason, kNoImages);
}

TEST(CalibrationError, agrees_with_its_definition) {
  for (const int levels : {3, 15, 1000}) {
    const ScoredSamples samples = draw_samples(150, levels, 2);
    EXPECT_NEAR(expected_calibration_error(Counted(samples).counts).value, naive_ece(samples), kTolerance);
    const RankedScores ranked(samples.scores, samples.labels);
    EXPECT_NEAR(expected_calibration_error(resampled(ranked, samples)).value, naive_ece(repeated(samples)), kTolerance);
  }
}

TEST(CalibrationError, is_undefined_where_brier_is) {
  EXPECT_EQ(expected_calibration_error(Counted({.scores = {2.0F}, .labels = {1}}).counts).reason, kNoProbabilities);
  EXPECT_EQ(expected_calibration_error(ScoreCounts{}).reason, kNoImages);
}

TEST(Reliability, has_bins_whose_figures_add_up) {
  const ScoredSamples samples = draw_samples(150, 40, 3);
  const Counted counted(samples);
  const std::vector<ReliabilityBin> bins = reliability(counted.counts);
  ASSERT_EQ(bins.size(), static_cast<std::size_t>(kReliabilityBins));
  std::int64_t n = 0;
  double error = 0.0;
  for (const ReliabilityBin& bin : bins) {
    n += bin.n;
    if (bin.n == 0) {
      EXPECT_TRUE(std::isnan(bin.mean_probability));
      continue;
    }
    EXPECT_GE(bin.mean_probability, bin.low - 1e-7);
    EXPECT_LE(bin.mean_probability, bin.high + 1e-7);
    error += std::abs(static_cast<double>(bin.positives) - bin.mean_probability * static_cast<double>(bin.n));
  }
  EXPECT_EQ(n, 150);
  EXPECT_NEAR(error / 150.0, expected_calibration_error(counted.counts).value, kTolerance);
  EXPECT_EQ(bins.back().high, 1.0);
  EXPECT_TRUE(reliability(ScoreCounts{}).empty());
}

TEST(Reliability, puts_zero_into_the_first_bin_and_one_into_the_last) {
  const Counted counted({.scores = {0.0F, 1.0F}, .labels = {0, 1}});
  EXPECT_EQ(reliability(counted.counts).front().n, 1);
  EXPECT_EQ(reliability(counted.counts).back().n, 1);
}

}  // namespace
}  // namespace roentgen::eval
