// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ScoreCounts: how many positives and negatives have each distinct score. Every metric of one label can be computed
// from it, also with equal scores and for resamples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace roentgen::eval {

/// Numbers of positive and negative samples of one label, by distinct score. RankedScores::count() fills it. A plain
/// value that does not own the scores.
struct ScoreCounts {
  /// (G) distinct scores, ascending. Owned by the RankedScores that filled this object.
  std::span<const float> scores{};
  /// (G) number of positives with that score. In a resample, positives and negatives can both be 0.
  std::vector<std::uint32_t> positives{};
  std::vector<std::uint32_t> negatives{};  ///< (G) number of negatives with that score
  /// Sum of `positives`.
  std::int64_t all_positives = 0;
  std::int64_t all_negatives = 0;  ///< sum of `negatives`

  [[nodiscard]] std::int64_t all() const {
    return all_positives + all_negatives;
  }  ///< number of samples of both classes
  /// True if there are positives and negatives.
  [[nodiscard]] bool has_both_classes() const { return all_positives > 0 && all_negatives > 0; }
};

}  // namespace roentgen::eval
