// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace roentgen::eval {
namespace {
// Sums over the samples of one bin.
struct BinSums {
  std::int64_t n = 0;
  std::int64_t positives = 0;
  double probability = 0.0;
};

using Bins = std::array<BinSums, kReliabilityBins>;

std::string_view why_undefined(const ScoreCounts& counts) {
  if (counts.all() == 0) return kNoImages;
  return counts.scores.front() < 0.0F || counts.scores.back() > 1.0F ? kNoProbabilities : std::string_view{};
}

Bins fill_bins(const ScoreCounts& counts) {
  Bins bins;
  for (std::size_t i = 0; i < counts.scores.size(); ++i) {
    const auto probability = static_cast<double>(counts.scores[i]);
    const int index = std::min(static_cast<int>(probability * kReliabilityBins), kReliabilityBins - 1);
    BinSums& bin = bins[static_cast<std::size_t>(index)];
    const std::int64_t n = std::int64_t{counts.positives[i]} + counts.negatives[i];
    bin.n += n;
    bin.positives += counts.positives[i];
    bin.probability += probability * static_cast<double>(n);
  }
  return bins;
}
}  // namespace

Figure brier(const ScoreCounts& counts) {
  if (const std::string_view reason = why_undefined(counts); !reason.empty()) return undefined(reason);
  double sum = 0.0;
  for (std::size_t i = 0; i < counts.scores.size(); ++i) {
    const auto probability = static_cast<double>(counts.scores[i]);
    sum += static_cast<double>(counts.positives[i]) * (1.0 - probability) * (1.0 - probability) +
           static_cast<double>(counts.negatives[i]) * probability * probability;
  }
  return {.value = sum / static_cast<double>(counts.all())};
}

std::vector<ReliabilityBin> reliability(const ScoreCounts& counts) {
  std::vector<ReliabilityBin> result;
  if (!why_undefined(counts).empty()) return result;
  for (const BinSums& bin : fill_bins(counts)) {
    const auto index = static_cast<double>(result.size());
    result.push_back({.low = index / kReliabilityBins,
                      .high = (index + 1.0) / kReliabilityBins,
                      .n = bin.n,
                      .positives = bin.positives,
                      .mean_probability = bin.probability / static_cast<double>(bin.n)});
  }
  return result;
}

Figure expected_calibration_error(const ScoreCounts& counts) {
  if (const std::string_view reason = why_undefined(counts); !reason.empty()) return undefined(reason);
  double sum = 0.0;
  for (const BinSums& bin : fill_bins(counts)) sum += std::abs(static_cast<double>(bin.positives) - bin.probability);
  return {.value = sum / static_cast<double>(counts.all())};
}

}  // namespace roentgen::eval
