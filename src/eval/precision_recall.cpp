// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/precision_recall.h"

namespace roentgen::eval {

Figure average_precision(const ScoreCounts& counts) {
  if (!counts.has_both_classes()) return undefined(counts.all() == 0 ? kNoImages : kOneClass);
  std::int64_t found = 0;   // positives at or above the current score
  std::int64_t called = 0;  // samples at or above the current score
  double sum = 0.0;
  for (std::size_t i = counts.scores.size(); i-- > 0;) {
    const std::int64_t positives = counts.positives[i];
    found += positives;
    called += positives + counts.negatives[i];
    if (positives == 0) continue;
    sum += static_cast<double>(positives) * (static_cast<double>(found) / static_cast<double>(called));
  }
  return {.value = sum / static_cast<double>(counts.all_positives)};
}

Figure prevalence(const ScoreCounts& counts) {
  if (counts.all() == 0) return undefined(kNoImages);
  return {.value = static_cast<double>(counts.all_positives) / static_cast<double>(counts.all())};
}

}  // namespace roentgen::eval
