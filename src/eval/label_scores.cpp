// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/label_scores.h"

#include <vector>

namespace roentgen::eval {

RankedScores rank_label(const Predictions& predictions, std::size_t label, const Clusters& clusters) {
  const std::size_t labels = predictions.label_names.size();
  std::vector<float> scores;
  std::vector<std::uint8_t> truth;
  std::vector<std::uint32_t> units;
  for (std::size_t i = 0; i < predictions.image_ids.size(); ++i) {
    const std::int8_t known = predictions.labels[i * labels + label];
    if (known == kUnknown) continue;
    scores.push_back(predictions.probabilities[i * labels + label]);
    truth.push_back(static_cast<std::uint8_t>(known));
    units.push_back(clusters.index[i]);
  }
  return RankedScores(scores, truth, units);
}

}  // namespace roentgen::eval
