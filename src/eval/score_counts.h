// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ScoreCounts: how many positives and negatives have each distinct score. Every figure of one label is a function of
// it, ties and resampling included.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace roentgen::eval {

/// One label's samples by score. RankedScores::count() fills it. Plain value, but for the scores, which it does not
/// own.
struct ScoreCounts {
  /// (G) distinct, ascending. Owned by the RankedScores that filled this.
  std::span<const float> scores{};
  /// (G) samples of that score; both can be 0 under resampling.
  std::vector<std::uint32_t> positives{};
  std::vector<std::uint32_t> negatives{};  ///< (G) negatives of that score
  /// Their sums.
  std::int64_t all_positives = 0;
  std::int64_t all_negatives = 0;  ///< sum of `negatives`

  [[nodiscard]] std::int64_t all() const { return all_positives + all_negatives; }  ///< samples of both classes
  /// Whether both classes occur.
  [[nodiscard]] bool has_both_classes() const { return all_positives > 0 && all_negatives > 0; }
};

}  // namespace roentgen::eval
