// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The images on which a model errs most, label by label: to be looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "eval/predictions.h"

namespace roentgen::eval {

/// Rows of the predictions, worst first.
struct WorstCases {
  /// Labelled 0, by descending probability.
  std::vector<std::size_t> false_positives;
  /// Labelled 1, by ascending probability.
  std::vector<std::size_t> false_negatives;
};

/// Worst cases of each kind for label number `label`: at most `most`, fewer where there are fewer images of that truth.
/// Images of unknown truth are left out. No threshold is applied: these are the ends of the ranking. Equal
/// probabilities are ordered by image name, so the order of rows changes nothing. O(N log N).
[[nodiscard]] WorstCases worst_cases(const Predictions& predictions, std::size_t label, std::int64_t most);

}  // namespace roentgen::eval
