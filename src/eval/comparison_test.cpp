// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "eval/prediction_testing.h"

namespace roentgen::eval {
namespace {

using testing::HasSubstr;
using testing::Not;

// Simulates the predictions of another model: adds noise of this size to every logit, different for each seed.
Predictions with_noise(Predictions from, double size, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  for (float& p : from.probabilities) {
    const double logit = std::log(static_cast<double>(p) / (1.0 - static_cast<double>(p))) + size * random.normal();
    p = static_cast<float>(1.0 / (1.0 + std::exp(-logit)));
  }
  return from;
}

TEST(Comparison, of_a_model_with_itself_is_exactly_nothing) {
  const Predictions drawn = draw_patients(60, 3);
  const Comparison same = compare(drawn, drawn, {.replicates = 200});
  for (const Difference* row : {&same.labels[0], &same.labels[1], &same.mean}) {
    EXPECT_EQ(row->delta.value, 0.0);
    EXPECT_EQ(row->delta.interval, (Interval{.low = 0.0, .high = 0.0}));
    EXPECT_EQ(row->p, 1.0);
  }
  EXPECT_FALSE(same.labels[2].delta.value.has_value());
  EXPECT_FALSE(same.labels[2].p.has_value());
  EXPECT_EQ(same.labels_in_mean, 2);
}

TEST(Comparison, agrees_with_two_evaluations_and_turns_its_sign) {
  const Predictions a = draw_patients(60, 3);
  const Predictions b = with_noise(a, 0.7, 9);
  const BootstrapOptions options{.replicates = 200, .seed = 5};
  const Comparison forth = compare(a, b, options);
  const Comparison back = compare(b, a, options);
  const EvalTable table_a = evaluate(a, options);
  const EvalTable table_b = evaluate(b, options);
  EXPECT_EQ(forth.mean.a.value, table_a.mean.value);
  EXPECT_EQ(forth.mean.b.interval, table_b.mean.interval);
  EXPECT_EQ(forth.labels[0].a.interval, table_a.labels[0].auroc.interval);
  EXPECT_EQ(*forth.mean.delta.value, *table_b.mean.value - *table_a.mean.value);
  EXPECT_DOUBLE_EQ(*forth.labels[1].delta.value, -*back.labels[1].delta.value);
  EXPECT_NEAR(forth.labels[1].delta.interval->low, -back.labels[1].delta.interval->high, 1e-12);
  EXPECT_EQ(forth.labels[1].p, back.labels[1].p);
}

TEST(Comparison, does_not_depend_on_threads) {
  const Predictions a = draw_patients(40, 4);
  const Predictions b = with_noise(a, 0.5, 1);
  const Comparison one = compare(a, b, {.replicates = 101, .threads = 1});
  const Comparison three = compare(a, b, {.replicates = 101, .threads = 3});
  EXPECT_EQ(one.mean.delta.interval, three.mean.delta.interval);
  EXPECT_EQ(one.mean.p, three.mean.p);
}

// Two models with noise of the same size have equal true AUROCs. An exact test has p < 0.05 in 5% of studies; over 200
// studies this share has a standard deviation of 1.5%. Bootstrap intervals of a hundred patients contain the truth up
// to 3% too rarely (coverage_test.cpp). The upper bound is therefore 0.05 + 0.03 + 3 sd. The lower bound excludes a
// test that never rejects.
TEST(Comparison, of_equals_rejects_at_about_the_stated_rate) {
  constexpr int kStudies = 200;
  constexpr std::uint64_t kSeed = 70000;
  RecordProperty("seed", static_cast<int>(kSeed));
  int rejected = 0;
  int mean_rejected = 0;
  for (std::uint64_t study = 0; study < kStudies; ++study) {
    const Predictions drawn = draw_patients(100, kSeed + study);
    const Comparison pair =
        compare(with_noise(drawn, 0.7, 10 * kSeed + 2 * study), with_noise(drawn, 0.7, 10 * kSeed + 2 * study + 1),
                {.replicates = 200, .seed = study});
    rejected += *pair.labels[0].p < 0.05 ? 1 : 0;
    mean_rejected += *pair.mean.p < 0.05 ? 1 : 0;
  }
  std::printf("seed %d: rejected %d (mean: %d) of %d studies of equals at 0.05\n", static_cast<int>(kSeed), rejected,
              mean_rejected, kStudies);
  for (const int count : {rejected, mean_rejected}) {
    EXPECT_GE(count, 2);
    EXPECT_LE(count, static_cast<int>(kStudies * (0.05 + 0.03 + 3 * 0.0154)));
  }
}

// Compares two models whose true difference is measured on thirty thousand patients. The interval must contain this
// difference in about 95 of 100 studies. coverage_test.cpp explains the bounds.
TEST(Comparison, interval_holds_a_true_difference_in_about_its_share_of_studies) {
  constexpr int kStudies = 150;
  const auto pair_of = [](int patients, std::uint64_t seed, std::int64_t replicates) {
    const Predictions drawn = draw_patients(patients, seed);
    return compare(with_noise(drawn, 0.4, 10 * seed + 1), with_noise(drawn, 1.5, 10 * seed + 2),
                   {.replicates = replicates, .seed = seed});
  };
  const Comparison truth = pair_of(30000, 1000, 0);
  EXPECT_LT(*truth.mean.delta.value, -0.03);
  int covered = 0, mean_covered = 0;
  for (std::uint64_t study = 0; study < kStudies; ++study) {
    const Comparison pair = pair_of(80, 2000 + study, 150);
    const auto holds = [](const Difference& row, const Difference& of_truth) {
      return row.delta.interval->low <= *of_truth.delta.value && *of_truth.delta.value <= row.delta.interval->high;
    };
    covered += holds(pair.labels[0], truth.labels[0]) ? 1 : 0;
    mean_covered += holds(pair.mean, truth.mean) ? 1 : 0;
  }
  std::printf("true difference held in %d (mean: %d) of %d studies\n", covered, mean_covered, kStudies);
  for (const int count : {covered, mean_covered}) {
    EXPECT_GT(count, 0.85 * kStudies);
    EXPECT_LT(count, 0.995 * kStudies);
  }
}

TEST(Comparison, finds_a_clear_difference) {
  const Predictions good = draw_patients(200, 8);
  const Comparison pair = compare(good, with_noise(good, 4.0, 2), {.replicates = 500});
  for (const Difference* row : {&pair.labels[0], &pair.labels[1], &pair.mean}) {
    EXPECT_LT(row->delta.interval->high, 0.0);
    EXPECT_DOUBLE_EQ(*row->p, 2.0 / 501.0);
  }
}

TEST(Comparison, refuses_what_is_no_pair) {
  const Predictions a = draw_patients(4, 1);
  const auto expect_refused = [&](const Predictions& b, const char* part) {
    try {
      static_cast<void>(compare(a, b, {}));
      FAIL() << part;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr(part));
    }
  };
  Predictions other = a;
  other.label_names[0] = "Nodule";
  expect_refused(other, "labels");
  other = a;
  std::swap(other.image_ids[0], other.image_ids[1]);
  expect_refused(other, "images");
  other = a;
  other.labels[0] = other.labels[0] == 1 ? 0 : 1;
  expect_refused(other, "true labels");
  other = a;
  other.patients[0] = 77;
  expect_refused(other, "patients");
}

// Returns predictions in which only the first `with` patients have "Mass".
Predictions with_mass(Predictions from, std::int64_t with) {
  for (std::size_t i = 0; i < from.patients.size(); ++i) from.labels[i * 3] = from.patients[i] < with ? 1 : 0;
  return from;
}

TEST(Comparison, has_no_interval_and_no_p_of_fewer_than_five_patients) {
  const Predictions enough = with_mass(draw_patients(60, 3), 5);
  const Comparison sound = compare(enough, with_noise(enough, 0.7, 9), {.replicates = 200});
  EXPECT_TRUE(sound.labels[0].p.has_value());
  EXPECT_TRUE(sound.mean.p.has_value());
  const Predictions few = with_mass(enough, 4);
  const std::vector<Predictions> a{few, with_noise(few, 0.3, 1)};
  const std::vector<Predictions> b{with_noise(few, 0.7, 9), with_noise(few, 0.8, 2)};
  for (const Comparison& pair : {compare(few, b[0], {.replicates = 200}), compare(a, b, {.replicates = 200})}) {
    EXPECT_TRUE(pair.labels[0].delta.value.has_value());
    EXPECT_TRUE(pair.labels[1].p.has_value());
    for (const Difference* row : {&pair.labels[0], &pair.mean}) {
      for (const Estimate* estimate : {&row->a, &row->b, &row->delta}) EXPECT_EQ(estimate->interval, std::nullopt);
      EXPECT_EQ(row->p, std::nullopt);
      EXPECT_EQ(row->dof, std::nullopt);
    }
    EXPECT_THAT(to_text(pair),
                HasSubstr("No interval and no p, fewer than 5 patients have the finding, or lack it: Mass."));
    EXPECT_THAT(to_text(pair), HasSubstr("No interval and no p, a finding in it has too few patients: mean."));
    EXPECT_THAT(to_text(pair), Not(HasSubstr("not corrected"))) << "one test is as many as it seems";
    const Value mass = to_value(pair).at("labels").at("Mass");
    EXPECT_TRUE(mass.at("p").is_null());
    EXPECT_TRUE(mass.at("delta").at("low").is_null());
    EXPECT_EQ(mass.at("delta").at("no_interval"), Value(kFewPatients));
  }
}

TEST(Comparison, counts_p_over_the_replicates_in_which_a_figure_is_defined) {
  Predictions good = with_mass(draw_patients(60, 3), 5);
  for (std::size_t i = 0; i < good.probabilities.size(); i += 3)
    good.probabilities[i] = good.labels[i] == 1 ? 0.9F : 0.1F;
  Predictions opposite = good;
  for (float& p : opposite.probabilities) p = 1.0F - p;
  const Comparison pair = compare(good, opposite, {.replicates = 2000});
  const std::int64_t left_out = pair.mean.delta.replicates_left_out;
  EXPECT_GT(left_out, 0);  // expected: in (55/60)^60 = 0.5% of 2,000 resamples
  EXPECT_LT(left_out, 40);
  EXPECT_LT(pair.mean.delta.interval->high, 0.0);
  EXPECT_DOUBLE_EQ(*pair.mean.p, 2.0 / (2001.0 - static_cast<double>(left_out)));
}

TEST(BootstrapP, is_the_share_of_the_rarer_side) {
  EXPECT_EQ(bootstrap_p({0.1}), std::nullopt);
  EXPECT_DOUBLE_EQ(*bootstrap_p({1, 2, 3, 4, 5, 6, 7, 8, 9}), 2.0 * 1 / 10);
  EXPECT_DOUBLE_EQ(*bootstrap_p({-1, 2, 3, 4, 5, 6, 7, 8, 9}), 2.0 * 2 / 10);
  EXPECT_DOUBLE_EQ(*bootstrap_p({0, 0, 0}), 1.0);
}

TEST(Comparison, is_told_with_its_method) {
  const Predictions a = draw_patients(30, 3);
  const Comparison pair = compare(a, with_noise(a, 0.7, 9), {.replicates = 99, .seed = 5});
  const std::string text = to_text(pair);
  EXPECT_THAT(text, HasSubstr("finding        "));
  EXPECT_THAT(text, HasSubstr("paired percentile bootstrap over 30 patients, 99 replicates, seed 5"));
  EXPECT_THAT(text, HasSubstr("never below 0.02; not corrected for 2 findings"));
  EXPECT_THAT(text, HasSubstr("left out of the mean: Hernia."));
  EXPECT_THAT(to_csv(pair), testing::StartsWith("label,auroc_a,auroc_b,delta,low,high,p,positives,n\nMass,"));
  EXPECT_THAT(to_csv(pair), HasSubstr("\nHernia,,,,,,,0,90\nmean,"));
  const Value value = to_value(pair);
  EXPECT_TRUE(value.at("labels").at("Hernia").at("delta").at("value").is_null());
  EXPECT_EQ(value.at("mean").at("p"), Value(*pair.mean.p));
}

}  // namespace
}  // namespace roentgen::eval
