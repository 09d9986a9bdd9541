// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/random.h"

namespace roentgen::bench {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr double kRounding = 1e-9;

TEST(DifferenceOfMeans, is_welchs_interval) {
  const auto interval = difference_of_means(std::vector{1.0, 2.0, 3.0, 3.0}, std::vector{5.0, 6.0, 8.0}, 0.95);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->estimate, 4.0 + 1.0 / 12.0, kRounding);
  // Variances 11 / 12 and 7 / 3, so that dof = 3.16880; t(0.975, dof) by integrating the density numerically.
  constexpr double kWidth = 3.0886574;
  constexpr double kIntegration = 1e-5;
  EXPECT_NEAR(interval->high - interval->estimate, kWidth * std::sqrt(11.0 / 48.0 + 7.0 / 9.0), kIntegration);
  EXPECT_NEAR(interval->estimate - interval->low, kWidth * std::sqrt(11.0 / 48.0 + 7.0 / 9.0), kIntegration);
}

TEST(DifferenceOfMeans, with_one_value_on_a_side_uses_the_others_variation) {
  EXPECT_FALSE(difference_of_means(std::vector{1.0}, std::vector{2.0}, 0.95));
  const auto interval = difference_of_means(std::vector{1.0}, std::vector{2.0, 2.2}, 0.95);
  ASSERT_TRUE(interval);
  // sd = 0.2 / sqrt(2), standard error = sd * sqrt(1.5), t(0.975, 1) = 12.7062
  EXPECT_NEAR(interval->high - interval->estimate, 12.7062 * 0.2 / std::sqrt(2.0) * std::sqrt(1.5), 1e-3);
}

TEST(DifferenceOfMeans, of_equal_values_is_exact) {
  const auto interval = difference_of_means(std::vector{1.0, 1.0}, std::vector{1.0, 1.0}, 0.95);
  EXPECT_EQ(interval->low, 0.0);
  EXPECT_EQ(interval->high, 0.0);
}

// Tests every centre by counting all sign patterns of the ranks, and returns the range of centres that are not
// rejected.
TEST(CentreOfDifferences, agrees_with_the_test_by_all_sign_patterns) {
  const std::vector<double> values{0.31, -0.12, 0.45, 0.22, 0.05, 0.61, -0.02, 0.33};
  constexpr double kLevel = 0.95;
  const auto interval = centre_of_differences(values, kLevel);
  ASSERT_TRUE(interval);
  const auto is_rejected = [&](double centre) {
    std::vector<double> sizes;
    for (const double value : values) sizes.push_back(std::abs(value - centre));
    const auto rank = [&](double size) {
      double smaller = 1.0;
      for (const double other : sizes) smaller += other < size ? 1.0 : 0.0;
      return smaller;
    };
    double sum = 0.0;
    for (const double value : values) sum += value > centre ? rank(std::abs(value - centre)) : 0.0;
    double as_low = 0.0, as_high = 0.0;
    for (unsigned pattern = 0; pattern < 256; ++pattern) {
      double w = 0.0;
      for (unsigned i = 0; i < 8; ++i) w += (pattern >> i & 1U) != 0 ? i + 1.0 : 0.0;
      as_low += w <= sum ? 1.0 : 0.0;
      as_high += w >= sum ? 1.0 : 0.0;
    }
    return std::min(as_low, as_high) / 256.0 <= (1.0 - kLevel) / 2.0;
  };
  constexpr double kBeside = 1e-6;
  EXPECT_TRUE(is_rejected(interval->low - kBeside));
  EXPECT_FALSE(is_rejected(interval->low + kBeside));
  EXPECT_FALSE(is_rejected(interval->high - kBeside));
  EXPECT_TRUE(is_rejected(interval->high + kBeside));
}

TEST(CentreOfDifferences, needs_pairs) {
  EXPECT_EQ(least_pairs(0.95), 6U);
  EXPECT_EQ(least_pairs(0.99), 8U);
  EXPECT_FALSE(centre_of_differences(std::vector(5, 1.0), 0.95));
  EXPECT_FALSE(centre_of_differences({}, 0.95));
  const auto interval = centre_of_differences(std::vector{1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, 0.95);
  ASSERT_TRUE(interval) << "P(W <= 0) = 1/64 < 0.025";
  EXPECT_EQ(interval->low, 1.0);
  EXPECT_EQ(interval->high, 6.0);
  EXPECT_EQ(interval->estimate, 3.5);
}

TEST(CentreOfDifferences, hardly_moves_with_an_outlier_among_20) {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(0.9 + 0.01 * i);
  const auto without = centre_of_differences(values, 0.95);
  values.back() = -50.0;
  const auto with = centre_of_differences(values, 0.95);
  EXPECT_NEAR(with->estimate, without->estimate, 0.05);
  EXPECT_GT(with->low, 0.9);
  values.resize(10);
  values.back() = -50.0;
  EXPECT_LT(centre_of_differences(values, 0.95)->low, -20.0) << "ten are too few to tell an outlier";
}

TEST(Intervals, contain_the_truth_as_often_as_they_say) {
  constexpr std::uint64_t kSeed = 20261127;
  SCOPED_TRACE(kSeed);
  Random random(kSeed, RandomStage::Test);
  constexpr int kTrials = 2000;
  int missed_by_rank = 0, missed_by_mean = 0, missed_by_welch = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> a, b;
    for (int i = 0; i < 10; ++i) a.push_back(random.normal());
    for (int i = 0; i < 6; ++i) b.push_back(1.0 + 3.0 * random.normal());
    const auto misses = [](const auto& interval, double truth) {
      return interval->low > truth || interval->high < truth ? 1 : 0;
    };
    missed_by_rank += misses(centre_of_differences(a, 0.95), 0.0);
    missed_by_mean += misses(mean_of_differences(a, 0.95), 0.0);
    missed_by_welch += misses(difference_of_means(a, b, 0.95), 1.0);
  }
  // 5% of 2,000 is 100; the standard deviation of the count is 9.7, and the bounds are 4 of them away.
  for (const int missed : {missed_by_rank, missed_by_mean, missed_by_welch}) {
    EXPECT_GT(missed, 61);
    EXPECT_LT(missed, 139);
  }
}

TEST(BlockMeans, are_of_ten_blocks) {
  EXPECT_THAT(block_means(std::vector{1.0, 2.0}), ElementsAre(1.0, 2.0));
  std::vector<double> values(25);
  std::iota(values.begin(), values.end(), 0.0);
  const std::vector<double> means = block_means(values);
  ASSERT_THAT(means, SizeIs(10));
  EXPECT_EQ(means.front(), 0.5);
  EXPECT_EQ(means.back(), 21.0) << "mean of 18 to 24";
}

}  // namespace
}  // namespace roentgen::bench
