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
  EXPECT_NEAR(label_odds(0.3, 0.2, 0.08), 0.46, 1e-12);  // half of 1 - label_noise at severity 0.3
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

TEST(Truth, prevalences_can_be_nihs_and_shifted) {
  const PerFinding<double> nih = prevalences({.prevalence = Prevalence::Nih});
  EXPECT_DOUBLE_EQ(nih[static_cast<std::size_t>(Finding::Infiltration)], 19894.0 / 112120.0);
  EXPECT_DOUBLE_EQ(nih[static_cast<std::size_t>(Finding::Hernia)], 227.0 / 112120.0);
  const Population shifted{.prevalence = Prevalence::Nih, .prevalence_factor = 2.0};
  int positives = 0;
  for (int patient = 1; patient <= kPatients; ++patient) {
    const Truth truth = draw_truth({.seed = kSeed, .patient = patient, .follow_up = 0}, shifted);
    positives += truth.label[static_cast<std::size_t>(Finding::Atelectasis)] ? 1 : 0;
  }
  const double asked = 2.0 * 11559.0 / 112120.0;
  EXPECT_NEAR(static_cast<double>(positives) / kPatients, asked, 4.0 * std::sqrt(asked * (1.0 - asked) / kPatients));
}

TEST(Truth, tubes_go_with_edema_as_far_as_asked_and_are_absent_by_default) {
  for (const double shortcut : {0.8, -0.8, 0.0}) {
    double tubed[2] = {0.0, 0.0}, counts[2] = {0.0, 0.0};
    for (int patient = 1; patient <= kPatients; ++patient) {
      const StudyKey key{.seed = kSeed, .patient = patient, .follow_up = 0};
      const Truth truth = draw_truth(key, {.shortcut = shortcut});
      EXPECT_FALSE(draw_truth(key, {}).has_tubes);
      const std::size_t edema = truth.severity[static_cast<std::size_t>(Finding::Edema)] > 0.0 ? 1 : 0;
      tubed[edema] += truth.has_tubes ? 1.0 : 0.0;
      counts[edema] += 1.0;
    }
    EXPECT_NEAR(tubed[1] / counts[1], 0.5 * (1.0 + shortcut), 4.0 * 0.5 / std::sqrt(counts[1])) << shortcut;
    EXPECT_NEAR(tubed[0] / counts[0], 0.5 * (1.0 - shortcut), 4.0 * 0.5 / std::sqrt(counts[0])) << shortcut;
  }
}

TEST(Truth, marks_are_the_labels_but_for_asked_shares) {
  const Population population{.uncertain = 0.3, .blank = 0.4};
  double suspects = 0.0, uncertain_suspects = 0.0, uncertain_others = 0.0, negatives = 0.0, blanks = 0.0;
  for (int patient = 1; patient <= kPatients; ++patient) {
    const StudyKey key{.seed = kSeed, .patient = patient, .follow_up = 0};
    const Truth plain = draw_truth(key, {}), marked = draw_truth(key, population);
    EXPECT_EQ(plain.severity, marked.severity);
    EXPECT_EQ(plain.label, marked.label);
    for (std::size_t i = 0; i < plain.label.size(); ++i) {
      EXPECT_EQ(plain.mark[i], plain.label[i] ? Mark::Positive : Mark::Negative);
      const bool is_suspect = plain.label[i] || plain.severity[i] > 0.0;
      suspects += is_suspect ? 1.0 : 0.0;
      if (marked.mark[i] == Mark::Uncertain) {
        (is_suspect ? uncertain_suspects : uncertain_others) += 1.0;
      } else {
        EXPECT_EQ(marked.mark[i] == Mark::Positive, marked.label[i]);
        negatives += marked.label[i] ? 0.0 : 1.0;
        blanks += marked.mark[i] == Mark::Blank ? 1.0 : 0.0;
      }
    }
  }
  EXPECT_NEAR(uncertain_suspects / suspects, 0.3, 0.02);
  EXPECT_NEAR(uncertain_others / (uncertain_others + uncertain_suspects), 3.0 / 7.0, 0.03);
  EXPECT_NEAR(blanks / negatives, 0.4, 0.02);
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
