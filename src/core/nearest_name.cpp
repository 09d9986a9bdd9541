// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/nearest_name.h"

#include <algorithm>
#include <cstddef>

namespace roentgen {

std::string nearest_name(std::string_view text, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = text.size() / 3 + 2;
  for (const std::string& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 0; i < text.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i + 1;
      for (std::size_t j = 0; j < candidate.size(); ++j) {
        const std::size_t above = row[j + 1];
        row[j + 1] = std::min({row[j] + 1, above + 1, diagonal + (text[i] == candidate[j] ? 0U : 1U)});
        diagonal = above;
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace roentgen
