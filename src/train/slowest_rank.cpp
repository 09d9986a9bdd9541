// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/slowest_rank.h"

#include <algorithm>
#include <numeric>

namespace roentgen::train {

SlowestRank slowest_of(std::span<const float> busy) {
  const double sum = std::accumulate(busy.begin(), busy.end(), 0.0);
  if (busy.size() < 2 || sum <= 0.0) return {};
  const auto longest = std::ranges::max_element(busy);
  return {.rank = static_cast<int>(longest - busy.begin()),
          .imbalance = static_cast<double>(*longest) * static_cast<double>(busy.size()) / sum - 1.0};
}

}  // namespace roentgen::train
