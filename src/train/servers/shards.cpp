// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/servers/shards.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/error.h"

namespace roentgen::train {

void require_buckets(std::int64_t buckets, int servers) {
  if (servers <= buckets) return;
  throw ConfigError(error_text("train.servers", "--servers",
                               "at most " + std::to_string(buckets) + ", the number of gradient buckets",
                               std::to_string(servers), "fewer servers, or a smaller train.bucket_mb"));
}

std::vector<int> assign_buckets(std::span<const engine::ArenaRange> buckets, int servers) {
  require_buckets(std::ssize(buckets), servers);
  std::vector<std::size_t> order(buckets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return buckets[i].count; });
  std::vector<std::int64_t> elements(static_cast<std::size_t>(servers), 0);
  std::vector<int> assigned(buckets.size());
  for (const std::size_t i : order) {
    const auto least = std::ranges::min_element(elements);
    *least += buckets[i].count;
    assigned[i] = static_cast<int>(least - elements.begin());
  }
  return assigned;
}

std::vector<std::int64_t> buckets_of(std::span<const int> assigned, int server) {
  std::vector<std::int64_t> own;
  for (std::size_t i = 0; i < assigned.size(); ++i) {
    if (assigned[i] == server) own.push_back(static_cast<std::int64_t>(i));
  }
  return own;
}

}  // namespace roentgen::train
