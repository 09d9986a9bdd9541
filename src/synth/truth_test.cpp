// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/truth.h"

#include <gtest/gtest.h>

#include <cmath>

namespace roentgen::synth {
namespace {
constexpr std::uint64_t kSeed = 31;
constexpr int kPatients = 4000;

TEST(Truth, label_odds_follow_the_stated_formula) {
  EXPECT_DOUBLE_EQ(label_odds(0.0, 0.2, 0.08), 0.08 * 0.2 / 0.8);
  EXPECT_NEAR(label_odds(0.3, 0.2, 0.08), 0.46, 1e-12);  // half of 0.92 at the threshold
  EXPECT_NEAR(label_odds(1.0, 0.2, 0.08), 0.92 / (1.0 + std::exp(-14.0)), 1e-12);
}

TEST(Truth, labels_have_the_asked_prevalence) {
  const Population population{.prevalence_low = 0.05, .prevalence_high = 0.30, .label_noise = 0.1};
  const PerFinding<double> asked = prevalences(population);
  EXPECT_DOUBLE_EQ(asked[static_cast<std::size_t>(Finding::Infiltration)], 0.30);
  EXPECT_DOUBLE_EQ(asked[static_cast<std::size_t>(Finding::Hernia)], 0.05);
  PerFinding<int> positives{};
  for (int patient = 1; patient <= kPatients; ++patient) {
    const Truth truth = draw_truth({.seed = kSeed, .patient = patient, .follow_up = 0}, population);
    for (std::size_t i = 0; i < positives.size(); ++i) positives[i] += truth.label[i] ? 1 : 0;
  }
  for (std::size_t i = 0; i < positives.size(); ++i) {
    const double sd = std::sqrt(asked[i] * (1.0 - asked[i]) / kPatients);
    EXPECT_NEAR(static_cast<double>(positives[i]) / kPatients, asked[i], 4.0 * sd) << kFindingNames[i];
  }
}

TEST(Truth, severity_is_none_or_at_least_the_least) {
  for (int patient = 1; patient <= 500; ++patient) {
    for (std::int64_t follow_up = 0; follow_up < 2; ++follow_up) {
      for (const double s : draw_truth({.seed = kSeed, .patient = patient, .follow_up = follow_up}, {}).severity) {
        EXPECT_TRUE(s == 0.0 || (s >= kLeastSeverity && s <= 1.0)) << s;
      }
    }
  }
}

TEST(Truth, chronic_findings_stay_more_often_than_acute_ones) {
  int chronic = 0, acute = 0;
  for (int patient = 1; patient <= kPatients; ++patient) {
    const Truth before = draw_truth({.seed = kSeed, .patient = patient, .follow_up = 0}, {});
    const Truth after = draw_truth({.seed = kSeed, .patient = patient, .follow_up = 1}, {});
    const auto changed = [&](Finding finding) {
      const auto i = static_cast<std::size_t>(finding);
      return (before.severity[i] > 0.0) != (after.severity[i] > 0.0) ? 1 : 0;
    };
    chronic += changed(Finding::Emphysema);
    acute += changed(Finding::Edema);
  }
  EXPECT_LT(3 * chronic, acute);
}

TEST(Truth, without_noise_the_label_needs_a_finding) {
  for (int patient = 1; patient <= 500; ++patient) {
    const Truth truth = draw_truth({.seed = kSeed, .patient = patient, .follow_up = 0}, {.label_noise = 0.0});
    for (std::size_t i = 0; i < truth.label.size(); ++i) {
      if (truth.label[i]) {
        EXPECT_GT(truth.severity[i], 0.0);
      }
    }
  }
}

TEST(Truth, presence_is_cut_at_one) { EXPECT_EQ(presence(0.5, 0.4), 1.0); }

TEST(Plan, persistent_details_are_the_patients_own) {
  int same = 0;
  for (int patient = 1; patient <= 200; ++patient) {
    Plan first = plan_of({.seed = kSeed, .patient = patient, .follow_up = 0}, Finding::Mass, 0.5);
    Plan second = plan_of({.seed = kSeed, .patient = patient, .follow_up = 1}, Finding::Mass, 0.5);
    same += first.random.next_u64() == second.random.next_u64() ? 1 : 0;
  }
  const double share = kFindingPersistence[static_cast<std::size_t>(Finding::Mass)];
  EXPECT_NEAR(same / 200.0, share, 4.0 * std::sqrt(share * (1.0 - share) / 200.0));
}

}  // namespace
}  // namespace roentgen::synth
