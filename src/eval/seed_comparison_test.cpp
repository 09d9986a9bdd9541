// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the comparison of recipes over seeds with simulated studies: equal recipes differ "significantly" as often as
// stated, and a broken recipe is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/error.h"
#include "eval/comparison.h"
#include "eval/label_scores.h"
#include "eval/prediction_testing.h"

namespace roentgen::eval {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kSeed = 91000;
constexpr int kPatients = 100;
constexpr int kStudies = 300;
constexpr std::int64_t kReplicates = 120;
constexpr int kSeeds = 3;
// Bounds for the number of studies that reject at a rate of 0.05: three standard deviations, a share of 0.012 to 0.088.
constexpr int kFewest = static_cast<int>(kStudies * (0.05 - 3 * 0.0126));
constexpr int kMost = static_cast<int>(kStudies * (0.05 + 3 * 0.0126));

// Random model of a training recipe: each seed's model adds noise to every logit. If `spread` is 0, seeds differ only
// in their noise, not in their true AUROC.
struct Recipe {
  double noise = 1.5;
  double spread = 0.0;
};
constexpr Recipe kSteady{};
constexpr Recipe kVaried{.noise = 1.5, .spread = 0.6};

Predictions train(const Recipe& recipe, Predictions seen, std::uint64_t seed) {
  Random random(seed, RandomStage::Test, 1);
  const double size = recipe.noise * std::exp(recipe.spread * random.normal());
  for (float& p : seen.probabilities) {
    const double logit = std::log(static_cast<double>(p) / (1.0 - static_cast<double>(p))) + size * random.normal();
    p = static_cast<float>(1.0 / (1.0 + std::exp(-logit)));
  }
  return seen;
}

std::vector<Predictions> train_seeds(const Recipe& recipe, const Predictions& seen, int count, std::uint64_t first) {
  std::vector<Predictions> models;
  for (int i = 0; i < count; ++i) models.push_back(train(recipe, seen, first + static_cast<std::uint64_t>(i)));
  return models;
}

// Permutes the scores of one finding, as if the model had been trained on random labels.
void shuffle_scores(Predictions& model, std::size_t label, std::uint64_t seed) {
  Random random(seed, RandomStage::Test, 2);
  const std::size_t K = model.label_names.size();
  for (std::size_t i = model.image_ids.size() - 1; i > 0; --i) {
    std::swap(model.probabilities[i * K + label], model.probabilities[random.below(i + 1) * K + label]);
  }
}

// Numbers of studies with p < 0.05, for the first finding and for the mean. Each study compares two sets of seeds of
// one recipe.
struct Rejected {
  int finding = 0;
  int mean = 0;
};
Rejected reject(const Recipe& recipe, int seeds) {
  Rejected rejected;
  for (std::uint64_t study = 0; study < kStudies; ++study) {
    const Predictions seen = draw_patients(kPatients, kSeed + study);
    const auto a = train_seeds(recipe, seen, seeds, kSeed + 1000 * study);
    const auto b = train_seeds(recipe, seen, seeds, kSeed + 1000 * study + 500);
    const Comparison pair = compare(a, b, {.replicates = kReplicates, .seed = study});
    rejected.finding += *pair.labels[0].p < 0.05 ? 1 : 0;
    rejected.mean += *pair.mean.p < 0.05 ? 1 : 0;
  }
  return rejected;
}

// Counts rejections by a naive method that compare() does not use: percentile intervals of differences with resampled
// patients and seeds.
int reject_by_percentile(const Recipe& recipe, int seeds) {
  int rejected = 0;
  for (std::uint64_t study = 0; study < kStudies; ++study) {
    const Predictions seen = draw_patients(kPatients, kSeed + study);
    const Clusters clusters = make_clusters(seen.patients);
    std::vector<RankedScores> models;
    for (const std::uint64_t side : {0U, 500U}) {
      for (const Predictions& model : train_seeds(recipe, seen, seeds, kSeed + 1000 * study + side)) {
        models.push_back(rank_label(model, 0, clusters));
      }
    }
    std::vector<double> differences;
    for (std::int64_t replicate = 0; replicate < kReplicates; ++replicate) {
      const auto patients = draw_clusters(clusters.count, study, replicate);
      Random random(study, RandomStage::Test, static_cast<std::uint64_t>(3 + replicate));
      double difference = 0.0;
      for (int i = 0; i < seeds; ++i) {
        const auto drawn = [&] { return random.below(static_cast<std::uint64_t>(seeds)); };
        difference += *models[static_cast<std::size_t>(seeds) + drawn()].auroc(patients);
        difference -= *models[drawn()].auroc(patients);
      }
      differences.push_back(difference / seeds);
    }
    rejected += *bootstrap_p(differences) < 0.05 ? 1 : 0;
  }
  return rejected;
}

void expect_stated_rate(const char* what, const Rejected& rejected) {
  std::printf("seed %d, %s: p < 0.05 in %d of %d pairs of one recipe, of the mean in %d\n", static_cast<int>(kSeed),
              what, rejected.finding, kStudies, rejected.mean);
  for (const int count : {rejected.finding, rejected.mean}) {
    EXPECT_GE(count, kFewest) << what;
    EXPECT_LE(count, kMost) << what;
  }
}

TEST(SeedComparison, of_one_recipe_rejects_at_the_stated_rate) {
  expect_stated_rate("three seeds that vary", reject(kVaried, kSeeds));
  expect_stated_rate("three seeds that do not", reject(kSteady, kSeeds));
}

// The true difference of two recipes is measured on four hundred seeds with four hundred patients each.
TEST(SeedComparison, interval_holds_a_true_difference_in_about_its_share_of_studies) {
  constexpr Recipe kGood{.noise = 0.7, .spread = 0.4};
  constexpr Recipe kPoor{.noise = 1.5, .spread = 0.4};
  constexpr int kTruthSeeds = 400;
  double truth = 0.0;
  for (std::uint64_t seed = 0; seed < kTruthSeeds; ++seed) {
    const Predictions seen = draw_patients(400, 2 * kSeed + seed);
    const Comparison pair = compare(train(kGood, seen, seed), train(kPoor, seen, 1000 + seed), {.replicates = 0});
    truth += *pair.labels[0].delta.value / kTruthSeeds;
  }
  int covered = 0;
  for (std::uint64_t study = 0; study < kStudies; ++study) {
    const Predictions seen = draw_patients(kPatients, kSeed + study);
    const auto a = train_seeds(kGood, seen, kSeeds, kSeed + 1000 * study);
    const auto b = train_seeds(kPoor, seen, kSeeds, kSeed + 1000 * study + 500);
    const Interval interval = *compare(a, b, {.replicates = kReplicates, .seed = study}).labels[0].delta.interval;
    covered += interval.low <= truth && truth <= interval.high ? 1 : 0;
  }
  std::printf("true difference %.4f of two recipes held in %d of %d studies of three seeds\n", truth, covered,
              kStudies);
  EXPECT_GE(covered, kStudies - kMost);
  EXPECT_LE(covered, kStudies - kFewest);
}

TEST(SeedComparison, of_one_seed_holds_only_where_seeds_do_not_vary) {
  // Percentile intervals of a hundred patients contain the true value in up to 3% too few studies (coverage_test.cpp).
  const Rejected steady = reject(kSteady, 1);
  EXPECT_LE(steady.finding, kMost + static_cast<int>(0.03 * kStudies));
  const Rejected varied = reject(kVaried, 1);
  std::printf("one seed each: p < 0.05 in %d of %d pairs of one recipe that does not vary, in %d of one that does\n",
              steady.finding, kStudies, varied.finding);
  EXPECT_GT(varied.finding, 2 * kMost) << "one seed does say something of the recipe, then";
}

TEST(SeedComparison, percentiles_over_few_seeds_would_reject_too_often) {
  const int rejected = reject_by_percentile(kVaried, kSeeds);
  std::printf("percentile bootstrap over three seeds and patients: p < 0.05 in %d of %d\n", rejected, kStudies);
  EXPECT_GT(rejected, kMost);
}

TEST(SeedComparison, finds_a_recipe_with_shuffled_labels_of_one_finding) {
  constexpr int kPairs = 20;
  int broken = 0, sound = 0;
  for (std::uint64_t study = 0; study < kPairs; ++study) {
    const Predictions seen = draw_patients(kPatients, kSeed + study);
    const auto a = train_seeds({.noise = 0.7, .spread = 0.3}, seen, kSeeds, kSeed + 1000 * study);
    auto b = train_seeds({.noise = 0.7, .spread = 0.3}, seen, kSeeds, kSeed + 1000 * study + 500);
    for (std::size_t i = 0; i < b.size(); ++i) shuffle_scores(b[i], 0, 10 * study + i);
    const Comparison pair = compare(a, b, {.replicates = kReplicates, .seed = study});
    broken += *pair.labels[0].p < 0.05 && *pair.labels[0].delta.value < 0.0 ? 1 : 0;
    sound += *pair.labels[1].p < 0.05 ? 1 : 0;
  }
  std::printf("shuffled labels: found in %d of %d pairs; the sound finding differs in %d\n", broken, kPairs, sound);
  EXPECT_GE(broken, kPairs - 1);
  EXPECT_LE(sound, 4);  // p < 0.05 in more than 4 of 20 studies happens by chance once in 400 runs
}

TEST(SeedComparison, is_the_formula_that_is_stated) {
  const Predictions seen = draw_patients(60, 3);
  const auto a = train_seeds(kVaried, seen, 2, 11), b = train_seeds(kVaried, seen, 3, 22);
  const BootstrapOptions options{.replicates = 50, .seed = 4};
  const Comparison pair = compare(a, b, options);
  EXPECT_TRUE(pair.covers_seeds());
  EXPECT_EQ(pair.seeds_b, 3);
  // The expected result is the mean over seeds, with its standard deviation, of single evaluations.
  std::vector<double> values;
  for (const Predictions& model : a) values.push_back(*evaluate(model, {.replicates = 0}).labels[0].auroc.value);
  EXPECT_DOUBLE_EQ(*pair.labels[0].a.value, (values[0] + values[1]) / 2.0);
  EXPECT_NEAR(*pair.labels[0].sd_a, std::abs(values[0] - values[1]) / std::sqrt(2.0), 1e-15);
  EXPECT_DOUBLE_EQ(*pair.labels[0].delta.value, *pair.labels[0].b.value - *pair.labels[0].a.value);
  // Interval and p must agree: p < 0.05 exactly if the interval excludes 0.
  for (const Difference* row : {&pair.labels[0], &pair.labels[1], &pair.mean}) {
    const bool excludes = row->delta.interval->low > 0.0 || row->delta.interval->high < 0.0;
    EXPECT_EQ(*row->p < 0.05, excludes);
    EXPECT_NEAR(row->delta.interval->low + row->delta.interval->high, 2.0 * *row->delta.value, 1e-12);
    EXPECT_GE(*row->dof, 1.0);
  }
  EXPECT_FALSE(pair.labels[2].p.has_value());
  // Another order of seeds must change nothing, and swapping A and B must change only the sign.
  const Comparison back = compare(std::vector{b[2], b[0], b[1]}, a, options);
  EXPECT_NEAR(*back.labels[0].delta.value, -*pair.labels[0].delta.value, 1e-15);
  EXPECT_NEAR(*back.labels[0].p, *pair.labels[0].p, 1e-12);
  const Comparison threads = compare(a, b, {.replicates = 50, .seed = 4, .threads = 3});
  EXPECT_EQ(threads.mean.delta.interval, pair.mean.delta.interval);
}

TEST(SeedComparison, with_one_seed_of_a_side_covers_patients_and_says_so) {
  const Predictions seen = draw_patients(60, 3);
  const auto a = train_seeds(kSteady, seen, 1, 11), b = train_seeds(kSteady, seen, 3, 22);
  const Comparison pair = compare(a, b, {.replicates = 50});
  EXPECT_FALSE(pair.covers_seeds());
  EXPECT_FALSE(pair.labels[0].dof.has_value());
  EXPECT_FALSE(pair.labels[0].sd_a.has_value());
  EXPECT_TRUE(pair.labels[0].sd_b.has_value());
  EXPECT_THAT(to_text(pair), HasSubstr("They cover patients, not seeds (one seed of A, 3 seeds of B)"));
  EXPECT_EQ(to_value(pair).at("intervals_cover"), Value("patients"));
  const Comparison covered = compare(b, train_seeds(kSteady, seen, 2, 33), {.replicates = 50});
  EXPECT_THAT(to_text(covered), HasSubstr("over seeds and patients: 3 seeds of A, 2 seeds of B"));
  EXPECT_THAT(to_text(covered), HasSubstr("Obuchowski & Rockette"));
  EXPECT_EQ(to_value(covered).at("intervals_cover"), Value("seeds and patients"));
  EXPECT_EQ(to_value(covered).at("seeds").at("b"), Value(2));
  EXPECT_GT(to_value(covered).at("labels").at("Mass").at("dof").as_double(), 1.0);
}

TEST(SeedComparison, refuses_models_of_other_images) {
  const Predictions seen = draw_patients(20, 3);
  const auto a = train_seeds(kSteady, seen, 2, 1);
  auto b = train_seeds(kSteady, seen, 2, 5);
  std::swap(b[1].image_ids[0], b[1].image_ids[1]);
  EXPECT_THROW((void)compare(a, b, {.replicates = 10}), DataError);
}

}  // namespace
}  // namespace roentgen::eval
