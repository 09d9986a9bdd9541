// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/bootstrap.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "core/error.h"
#include "core/random.h"
#include "eval/auroc.h"

namespace roentgen::eval {
namespace {

TEST(Clusters, are_numbered_by_their_ids_whatever_the_order_and_the_gaps) {
  const Clusters clusters = make_clusters(std::vector<std::int64_t>{70, -3, 70, 12});
  EXPECT_EQ(clusters.count, 3);
  EXPECT_EQ(clusters.index, (std::vector<std::uint32_t>{2, 0, 2, 1}));
  EXPECT_EQ(make_clusters({}).count, 0);
}

TEST(Bootstrap, draws_as_many_clusters_as_there_are) {
  for (const std::int64_t clusters : {1, 2, 1000}) {
    const std::vector<std::uint32_t> drawn = draw_clusters(clusters, 3, 5);
    EXPECT_EQ(std::accumulate(drawn.begin(), drawn.end(), 0), clusters);
  }
}

TEST(Bootstrap, draws_every_cluster_once_on_average) {
  constexpr int kReplicates = 20000;
  constexpr std::int64_t kClusters = 5;
  // Tolerance: five standard errors of a mean over 20,000 resamples. How often a cluster is drawn is binomial(5, 1/5),
  // with variance 0.8.
  constexpr double kTolerance = 0.0317;
  std::vector<double> sum(kClusters, 0.0);
  for (int replicate = 0; replicate < kReplicates; ++replicate) {
    const std::vector<std::uint32_t> drawn = draw_clusters(kClusters, 11, replicate);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += drawn[i];
  }
  for (const double total : sum) EXPECT_NEAR(total / kReplicates, 1.0, kTolerance);
}

TEST(Bootstrap, differs_by_seed_and_by_replicate) {
  EXPECT_EQ(draw_clusters(50, 1, 1), draw_clusters(50, 1, 1));
  EXPECT_NE(draw_clusters(50, 1, 1), draw_clusters(50, 1, 2));
  EXPECT_NE(draw_clusters(50, 1, 1), draw_clusters(50, 2, 1));
}

// Computes two columns: the mean of the numbers of the drawn clusters, and a value that is undefined if cluster 0 is
// not drawn.
void two_columns(std::span<const std::uint32_t> multiplicity, std::span<double> values) {
  double sum = 0.0;
  for (std::size_t i = 0; i < multiplicity.size(); ++i) sum += static_cast<double>(i) * multiplicity[i];
  values[0] = sum / static_cast<double>(multiplicity.size());
  values[1] = multiplicity[0] == 0 ? std::numeric_limits<double>::quiet_NaN() : values[0];
}

TEST(Bootstrap, gives_the_same_bits_with_one_and_many_threads) {
  const Replicates one = bootstrap(20, 2, two_columns, {.replicates = 101, .seed = 4, .threads = 1});
  for (const int threads : {2, 7, 200}) {
    const Replicates many = bootstrap(20, 2, two_columns, {.replicates = 101, .seed = 4, .threads = threads});
    EXPECT_EQ(many.defined(0), one.defined(0));
    EXPECT_EQ(many.defined(1), one.defined(1));
  }
}

TEST(Bootstrap, keeps_undefined_values_out_of_a_column_only) {
  const Replicates replicates = bootstrap(20, 2, two_columns, {.replicates = 500, .seed = 4});
  EXPECT_EQ(replicates.defined(0).size(), 500U);
  // P(cluster 0 not drawn) = 0.95^20 = 0.358, so about 321 defined values are expected; standard deviation 10.7.
  EXPECT_NEAR(static_cast<double>(replicates.defined(1).size()), 321.0, 54.0);
}

TEST(Bootstrap, rethrows_what_a_statistic_throws_in_another_thread) {
  const Statistic bad = [](std::span<const std::uint32_t> multiplicity, std::span<double>) {
    if (multiplicity[0] == 0) throw std::runtime_error("cluster 0 is missing");
  };
  EXPECT_THROW(static_cast<void>(bootstrap(3, 1, bad, {.replicates = 100, .threads = 2})), std::runtime_error);
}

TEST(Bootstrap, of_no_clusters_is_undefined) {
  EXPECT_TRUE(bootstrap(0, 2, two_columns, {.replicates = 10}).defined(0).empty());
}

TEST(Bootstrap, refuses_senseless_options) {
  EXPECT_THROW(check_options({.replicates = -1}), ConfigError);
  EXPECT_THROW(check_options({.level = 0.0}), ConfigError);
  EXPECT_THROW(check_options({.level = 1.0}), ConfigError);
  EXPECT_THROW(check_options({.level = std::nan("")}), ConfigError);
  EXPECT_THROW(check_options({.threads = 0}), ConfigError);
  EXPECT_NO_THROW(check_options({.replicates = 0}));
}

TEST(Quantile, interpolates_between_order_statistics_as_numpy_does) {
  const std::vector<double> sorted{1.0, 2.0, 4.0, 8.0};  // expected values from numpy.quantile(..., [0, .1, .5, .975,
                                                         // 1])
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.1), 1.3);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 3.0);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.975), 7.7);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1.0), 8.0);
}

TEST(PercentileInterval, needs_two_values) {
  EXPECT_EQ(percentile_interval({}, 0.95), std::nullopt);
  EXPECT_EQ(percentile_interval({0.5}, 0.95), std::nullopt);
  EXPECT_EQ(percentile_interval({0.75, 0.5}, 0.5), (Interval{.low = 0.5625, .high = 0.6875}));
}

TEST(Bootstrap, ends_when_it_is_told_to) {
  for (const int threads : {1, 4}) {
    std::atomic<std::int64_t> made = 0;
    const Statistic statistic = [&](std::span<const std::uint32_t> /*multiplicity*/, std::span<double> values) {
      ++made;
      values[0] = 0.0;
    };
    int asked = 0;
    BootstrapOptions options{.replicates = 1'000'000, .threads = threads};
    options.on_replicate = [&] {
      if (++asked == 3) throw std::runtime_error("told to");
    };
    EXPECT_THROW(static_cast<void>(bootstrap(2, 1, statistic, options)), std::runtime_error);
    EXPECT_EQ(asked, 3);
    EXPECT_GE(made, 3);
  }
}

// Simulated study of 60 patients with 4 images each. Images of a patient share the label and part of the score. The
// true AUROC is Phi(shift / sqrt(2 (patient_sd^2 + 1))).
struct Study {
  std::vector<float> scores;
  std::vector<std::uint8_t> labels;
  std::vector<std::int64_t> patients;
};
constexpr double kShift = 1.5;
constexpr double kPatientSd = 1.0;

Study draw_study(std::uint64_t seed) {
  constexpr int kPatients = 60;
  constexpr int kImagesEach = 4;
  Random random(seed, RandomStage::Test);
  Study study;
  for (int patient = 0; patient < kPatients; ++patient) {
    const bool is_positive = random.chance(0.4);
    const double mean = (is_positive ? kShift : 0.0) + kPatientSd * random.normal();
    for (int i = 0; i < kImagesEach; ++i) {
      study.scores.push_back(static_cast<float>(mean + random.normal()));
      study.labels.push_back(is_positive ? 1 : 0);
      study.patients.push_back(patient);
    }
  }
  return study;
}

// Returns the share of 300 simulated studies whose interval contains the true AUROC.
double simulated_coverage(bool by_patient) {
  constexpr int kStudies = 300;
  const double truth = 0.5 * std::erfc(-kShift / std::sqrt(2.0 * (kPatientSd * kPatientSd + 1.0)) / std::sqrt(2.0));
  int covered = 0;
  for (int i = 0; i < kStudies; ++i) {
    Study study = draw_study(static_cast<std::uint64_t>(i));
    if (!by_patient) std::iota(study.patients.begin(), study.patients.end(), 0);
    const Clusters clusters = make_clusters(study.patients);
    const RankedScores ranked(study.scores, study.labels, clusters.index);
    const Statistic statistic = [&](std::span<const std::uint32_t> multiplicity, std::span<double> values) {
      values[0] = ranked.auroc(multiplicity).value_or(std::numeric_limits<double>::quiet_NaN());
    };
    const Replicates replicates = bootstrap(clusters.count, 1, statistic, {.replicates = 300, .seed = 1});
    const Interval interval = percentile_interval(replicates.defined(0), 0.95).value();
    covered += interval.low <= truth && truth <= interval.high ? 1 : 0;
  }
  return static_cast<double>(covered) / kStudies;
}

TEST(BootstrapCoverage, of_the_patient_interval_is_near_its_level) {
  // Percentile intervals from 60 clusters contain the truth in a little less than 95% of studies; the simulated share
  // has a standard deviation of 0.013.
  const double coverage = simulated_coverage(true);
  EXPECT_GT(coverage, 0.90);
  EXPECT_LT(coverage, 0.985);
}

TEST(BootstrapCoverage, would_be_far_too_low_over_images) { EXPECT_LT(simulated_coverage(false), 0.85); }

}  // namespace
}  // namespace roentgen::eval
