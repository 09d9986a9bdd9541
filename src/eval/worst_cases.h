// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Finds the images with the largest errors of a model for each label, so that people can look at them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "eval/predictions.h"

namespace roentgen::eval {

/// Indices of the images with the largest errors, worst first.
struct WorstCases {
  /// Images with true label 0, by descending probability.
  std::vector<std::size_t> false_positives;
  /// Images with true label 1, by ascending probability.
  std::vector<std::size_t> false_negatives;
};

/// Finds at most `most` worst cases of each kind for label number `label`. Ignores images of unknown truth. No
/// threshold is needed: these are the negatives with the highest and the positives with the lowest probabilities. Equal
/// probabilities are ordered by image name, so the order of rows does not matter. O(N log N).
[[nodiscard]] WorstCases worst_cases(const Predictions& predictions, std::size_t label, std::int64_t most);

}  // namespace roentgen::eval
