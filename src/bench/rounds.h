// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Interleaved rounds: every round runs each compared variant ("arm") once, because the speed of a machine drifts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/harness.h"
#include "bench/step_progress.h"

namespace roentgen::bench {

/// Calls run(arm) for every arm from 0 to `arms` - 1, once in each of `rounds` rounds. Odd rounds run the arms in
/// reverse order. Shows progress. Returns the results as [arm][round].
template <typename Run>
[[nodiscard]] auto interleave(std::size_t arms, std::int64_t rounds, Run&& run) {
  std::vector<std::vector<decltype(run(std::size_t{0}))>> results(arms);
  RepeatProgress progress(static_cast<std::int64_t>(arms) * rounds);
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < arms; ++i) {
      const std::size_t arm = round % 2 == 0 ? i : arms - 1 - i;
      results[arm].push_back(run(arm));
      progress.add();
    }
  }
  return results;
}

/// Returns the median of `what(element)` over all elements.
template <typename Elements, typename What>
[[nodiscard]] double median_of(const Elements& elements, What&& what) {
  std::vector<double> values;
  for (const auto& element : elements) values.push_back(what(element));
  return summarise(values).median;
}

/// Returns the median over the rounds of what(a) / what(b), where a and b are the results of two arms in the same
/// round.
template <typename Rounds, typename What>
[[nodiscard]] double median_ratio(const Rounds& rounds, const Rounds& base, What&& what) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds.size(); ++i) ratios.push_back(what(rounds[i]) / what(base[i]));
  return summarise(ratios).median;
}

/// Median of the times.
[[nodiscard]] inline double median(const std::vector<double>& times) { return summarise(times).median; }

/// Joins the times of all rounds into one list.
[[nodiscard]] inline std::vector<double> all_of(const std::vector<std::vector<double>>& rounds) {
  std::vector<double> all;
  for (const std::vector<double>& round : rounds) all.insert(all.end(), round.begin(), round.end());
  return all;
}

}  // namespace roentgen::bench
