// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/top_k.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/error.h"

namespace roentgen::eval {

std::vector<double> top_k_credits(const Predictions& predictions, std::int64_t k) {
  RG_ASSERT(k > 0);
  const std::size_t K = predictions.label_names.size();
  std::vector<double> credits(predictions.image_ids.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < credits.size(); ++i) {
    const auto truth = std::span(predictions.labels).subspan(i * K, K);
    const auto row = std::span(predictions.probabilities).subspan(i * K, K);
    if (std::ranges::count(truth, std::int8_t{1}) != 1) continue;
    const float right = row[static_cast<std::size_t>(std::ranges::find(truth, std::int8_t{1}) - truth.begin())];
    const auto above = std::ranges::count_if(row, [right](float p) { return p > right; });
    const auto equal = std::ranges::count(row, right);
    credits[i] = std::clamp(static_cast<double>(k - above) / static_cast<double>(equal), 0.0, 1.0);
  }
  return credits;
}

std::optional<double> top_k_accuracy(const Predictions& predictions, std::int64_t k) {
  if (predictions.outputs != Outputs::Exclusive) return std::nullopt;
  double sum = 0.0, count = 0.0;
  for (const double credit : top_k_credits(predictions, k)) {
    if (std::isnan(credit)) continue;
    sum += credit;
    ++count;
  }
  return count > 0.0 ? std::optional(sum / count) : std::nullopt;
}

}  // namespace roentgen::eval
