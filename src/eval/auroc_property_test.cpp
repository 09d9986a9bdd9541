// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares AUROC with its definition, pair by pair, on random samples with many equal scores.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>

#include "eval/auroc.h"

namespace roentgen::eval {
namespace {

// AUROC by definition in O(n^2), from every pair. The sums are multiples of one half, so they are exact in double.
std::optional<double> auroc_by_pairs(std::span<const float> scores, std::span<const std::uint8_t> labels,
                                     std::span<const std::uint32_t> counts) {
  double won = 0.0;
  double pairs = 0.0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (labels[i] != 1 || labels[j] != 0) continue;
      const double weight = static_cast<double>(counts[i]) * static_cast<double>(counts[j]);
      pairs += weight;
      won += weight * (scores[i] > scores[j] ? 1.0 : scores[i] == scores[j] ? 0.5 : 0.0);
    }
  }
  if (pairs == 0.0) return std::nullopt;
  return won / pairs;
}

struct Case {
  std::vector<float> scores;
  std::vector<std::uint8_t> labels;
  std::vector<std::uint32_t> counts;
};

// Draws samples with at most `levels` distinct scores: many equal scores for 1 to 4 levels, few for more levels.
Case draw_case() {
  Case drawn;
  const int samples = *rc::gen::inRange(0, 60);
  const int levels = *rc::gen::element(1, 2, 4, 1000);
  for (int i = 0; i < samples; ++i) {
    drawn.scores.push_back(static_cast<float>(*rc::gen::inRange(0, levels)) / 8.0F - 1.0F);
    drawn.labels.push_back(static_cast<std::uint8_t>(*rc::gen::inRange(0, 2)));
    drawn.counts.push_back(static_cast<std::uint32_t>(*rc::gen::inRange(0, 4)));
  }
  return drawn;
}

RC_GTEST_PROP(AurocProperty, equals_the_count_of_pairs, ()) {
  const Case drawn = draw_case();
  const std::vector<std::uint32_t> ones(drawn.scores.size(), 1);
  RC_ASSERT(auroc(drawn.scores, drawn.labels) == auroc_by_pairs(drawn.scores, drawn.labels, ones));
}

RC_GTEST_PROP(AurocProperty, equals_the_weighted_count_of_pairs_under_multiplicities, ()) {
  const Case drawn = draw_case();
  const RankedScores ranked(drawn.scores, drawn.labels);
  RC_ASSERT(ranked.auroc(drawn.counts) == auroc_by_pairs(drawn.scores, drawn.labels, drawn.counts));
}

RC_GTEST_PROP(AurocProperty, multiplicities_equal_repeated_samples, ()) {
  const Case drawn = draw_case();
  Case repeated;
  for (std::size_t i = 0; i < drawn.scores.size(); ++i) {
    repeated.scores.insert(repeated.scores.end(), drawn.counts[i], drawn.scores[i]);
    repeated.labels.insert(repeated.labels.end(), drawn.counts[i], drawn.labels[i]);
  }
  const RankedScores ranked(drawn.scores, drawn.labels);
  RC_ASSERT(ranked.auroc(drawn.counts) == auroc(repeated.scores, repeated.labels));
}

RC_GTEST_PROP(AurocProperty, swapping_the_classes_mirrors_it, ()) {
  Case drawn = draw_case();
  const std::optional<double> before = auroc(drawn.scores, drawn.labels);
  for (std::uint8_t& label : drawn.labels) label = static_cast<std::uint8_t>(1 - label);
  const std::optional<double> after = auroc(drawn.scores, drawn.labels);
  RC_ASSERT(before.has_value() == after.has_value());
  // Tolerance: each of the two AUROCs is rounded once.
  if (before) RC_ASSERT(std::abs(*before + *after - 1.0) < 1e-15);
}

}  // namespace
}  // namespace roentgen::eval
