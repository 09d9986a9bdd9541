// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/algorithm_choice.h"

#include <algorithm>
#include <limits>
#include <string>

namespace roentgen::engine::cpu {
namespace {
// What of the first candidate's time an algorithm must stay below.
constexpr double kOfGathering = 1.02;
constexpr double kOfFusing = 1.10;
constexpr double kOfLesser = 0.95;
constexpr double kOfOthers = 0.98;

constexpr int kTimedRuns = 4;
// Of the fastest's time: a hold-up of the whole process took 400 times; the most that algorithms were seen to differ
// is 8.4.
constexpr double kFarBehind = 20.0;
constexpr int kMostRepeats = 2;
}  // namespace

std::vector<double> least_seconds(const std::vector<TimedRun>& candidates) {
  std::vector<double> least(candidates.size(), std::numeric_limits<double>::infinity());
  for (const TimedRun& candidate : candidates) static_cast<void>(candidate());
  for (int repeat = 0; repeat <= kMostRepeats; ++repeat) {
    for (int run = 0; run < kTimedRuns; ++run) {
      for (std::size_t i = 0; i < candidates.size(); ++i) least[i] = std::min(least[i], candidates[i]());
    }
    const auto [fastest, slowest] = std::ranges::minmax(least);
    if (slowest <= kFarBehind * fastest) break;
  }
  return least;
}

ConvAlgorithm fastest_algorithm(const std::vector<ConvAlgorithm>& candidates, const Timings& timings,
                                const std::function<bool(ConvAlgorithm)>& gathers) {
  const auto seconds = [&](ConvAlgorithm algorithm) { return timings.at(std::string(name_of(algorithm))); };
  const ConvAlgorithm first = candidates.front();
  ConvAlgorithm chosen = first;
  for (const ConvAlgorithm algorithm : candidates) {
    if (algorithm == first) continue;
    const bool is_lesser = is_winograd(algorithm) || algorithm == ConvAlgorithm::Split2;
    const double worthwhile = algorithm == ConvAlgorithm::Pointwise ? kOfFusing
                              : gathers(algorithm)                  ? kOfGathering
                              : is_lesser                           ? kOfLesser
                                                                    : kOfOthers;
    if (seconds(algorithm) >= worthwhile * seconds(first)) continue;
    if (chosen == first || seconds(algorithm) < seconds(chosen)) chosen = algorithm;
  }
  return chosen;
}

}  // namespace roentgen::engine::cpu
