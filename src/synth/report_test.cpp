// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/report.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "synth/layout.h"

namespace roentgen::synth {
namespace {
/// Computes AUROC by definition: the share of (positive, negative) pairs in which the positive scores higher; ties
/// count half.
std::optional<double> pairs(std::span<const float> scores, std::span<const std::uint8_t> labels) {
  double won = 0.0, all = 0.0;
  for (std::size_t p = 0; p < scores.size(); ++p) {
    for (std::size_t n = 0; n < scores.size(); ++n) {
      if (labels[p] == 0 || labels[n] == 1) continue;
      all += 1.0;
      won += scores[p] > scores[n] ? 1.0 : (scores[p] == scores[n] ? 0.5 : 0.0);
    }
  }
  if (all == 0.0) return std::nullopt;
  return won / all;
}

Entry entry(std::int64_t patient, Split split, double severity, bool label) {
  Entry result{.key = {.seed = 1, .patient = patient, .follow_up = 0}, .split = split, .study = {}};
  result.study.truth.severity[0] = severity;
  result.study.truth.label[0] = label;
  return result;
}

TEST(Summarise, ceiling_is_the_auroc_of_the_severity_on_the_test_set) {
  // Test set with positive scores 0.9 and 0 (a wrong label), and negative scores 0, 0 and 0.5 (a missed finding).
  // AUROC: 3 pairs won and 2 ties of 6.
  const std::vector<Entry> entries{entry(1, Split::Test, 0.9, true),    entry(2, Split::Test, 0.0, true),
                                   entry(3, Split::Test, 0.0, false),   entry(4, Split::Test, 0.0, false),
                                   entry(5, Split::Test, 0.5, false),   entry(6, Split::TrainVal, 0.9, false),
                                   entry(7, Split::TrainVal, 0.0, true)};
  const SynthReport report = summarise(entries, pairs);
  ASSERT_TRUE(report.findings[0].ceiling.has_value());
  EXPECT_DOUBLE_EQ(*report.findings[0].ceiling, 4.0 / 6.0);
  EXPECT_EQ(report.findings[0].name, "Atelectasis");
  EXPECT_EQ(report.findings[0].test_positives, 2);
  EXPECT_EQ(report.findings[0].train_val_positives, 1);
  EXPECT_EQ(report.images, 7);
  EXPECT_EQ(report.patients, 7);
  EXPECT_EQ(report.test_images, 5);
}

TEST(Summarise, mean_leaves_out_what_has_no_ceiling) {
  const std::vector<Entry> entries{entry(1, Split::Test, 0.9, true), entry(2, Split::Test, 0.0, false)};
  const SynthReport report = summarise(entries, pairs);
  EXPECT_FALSE(report.findings[1].ceiling.has_value());
  ASSERT_TRUE(report.mean_ceiling.has_value());
  EXPECT_DOUBLE_EQ(*report.mean_ceiling, 1.0);
}

TEST(Summarise, without_a_test_set_there_is_no_ceiling) {
  const std::vector<Entry> entries{entry(1, Split::TrainVal, 0.9, true)};
  EXPECT_FALSE(summarise(entries, pairs).mean_ceiling.has_value());
}

TEST(Summarise, drawn_noise_keeps_the_ceiling_between_0_92_and_0_96) {
  std::vector<Entry> entries = list_studies(3, 3000);
  for (Entry& each : entries) {
    each.split = Split::Test;
    each.study.truth = draw_truth(each.key, {});
  }
  const SynthReport report = summarise(entries, pairs);
  ASSERT_TRUE(report.mean_ceiling.has_value());
  EXPECT_GT(*report.mean_ceiling, 0.92);
  EXPECT_LT(*report.mean_ceiling, 0.96);
}

}  // namespace
}  // namespace roentgen::synth
