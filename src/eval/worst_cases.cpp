// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/worst_cases.h"

#include <algorithm>

#include "core/error.h"

namespace roentgen::eval {

WorstCases worst_cases(const Predictions& predictions, std::size_t label, std::int64_t most) {
  RG_ASSERT(label < predictions.label_names.size() && most >= 0);
  const std::size_t K = predictions.label_names.size();
  const auto probability = [&](std::size_t row) { return predictions.probabilities[row * K + label]; };
  WorstCases cases;
  for (std::size_t row = 0; row < predictions.image_ids.size(); ++row) {
    const std::int8_t truth = predictions.labels[row * K + label];
    if (truth != kUnknown) (truth == 0 ? cases.false_positives : cases.false_negatives).push_back(row);
  }
  const auto keep = [&](std::vector<std::size_t>& rows, auto is_worse) {
    std::ranges::sort(rows, [&](std::size_t a, std::size_t b) {
      if (probability(a) != probability(b)) return is_worse(probability(a), probability(b));
      return predictions.image_ids[a] < predictions.image_ids[b];
    });
    rows.resize(std::min(rows.size(), static_cast<std::size_t>(most)));
  };
  keep(cases.false_positives, std::ranges::greater());
  keep(cases.false_negatives, std::ranges::less());
  return cases;
}

}  // namespace roentgen::eval
