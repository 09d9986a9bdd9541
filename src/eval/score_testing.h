// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests of src/eval: random samples with equal scores, to compare every metric with a naive reference.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/random.h"
#include "eval/auroc.h"

namespace roentgen::eval {

/// Samples of one label, and how often each sample is drawn.
struct ScoredSamples {
  std::vector<float> scores{};
  std::vector<std::uint8_t> labels{};
  std::vector<std::uint32_t> multiplicity{};

  [[nodiscard]] std::size_t size() const { return scores.size(); }
  [[nodiscard]] bool is_positive(std::size_t i) const { return labels[i] == 1; }
};

/// Draws `count` samples with scores k / `levels` and multiplicities 0 ... 3.
inline ScoredSamples draw_samples(int count, int levels, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  ScoredSamples samples;
  for (int i = 0; i < count; ++i) {
    const bool is_positive = random.chance(0.35);
    const double score = 0.7 * random.uniform() + (is_positive ? 0.3 : 0.0);
    samples.scores.push_back(static_cast<float>(std::round(score * levels) / levels));
    samples.labels.push_back(is_positive ? 1 : 0);
    samples.multiplicity.push_back(static_cast<std::uint32_t>(random.below(4)));
  }
  return samples;
}

/// Returns the samples, each repeated by its multiplicity.
inline ScoredSamples repeated(const ScoredSamples& samples) {
  ScoredSamples result;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::uint32_t k = 0; k < samples.multiplicity[i]; ++k) {
      result.scores.push_back(samples.scores[i]);
      result.labels.push_back(samples.labels[i]);
      result.multiplicity.push_back(1);
    }
  }
  return result;
}

/// ScoreCounts of samples, with the RankedScores that own the scores.
struct Counted {
  RankedScores ranked;
  ScoreCounts counts;
  explicit Counted(const ScoredSamples& samples) : ranked(samples.scores, samples.labels), counts(ranked.count()) {}
};

/// Returns the ScoreCounts of the samples of one label, each counted as often as it is drawn.
inline ScoreCounts resampled(const RankedScores& ranked, const ScoredSamples& samples) {
  ScoreCounts counts;
  ranked.count(samples.multiplicity, counts);
  return counts;
}

}  // namespace roentgen::eval
