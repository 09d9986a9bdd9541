// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/sent_buckets.h"

#include <algorithm>

#include "core/error.h"

namespace roentgen::train {

std::vector<std::vector<engine::UpdateRange>> ranges_by_bucket(const std::vector<engine::UpdateRange>& ranges,
                                                               const std::vector<engine::Bucket>& buckets) {
  std::vector<std::vector<engine::UpdateRange>> parts(buckets.size());
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const std::int64_t end = buckets[i].begin + buckets[i].count;
    for (const engine::UpdateRange& range : ranges) {
      const std::int64_t from = std::max(range.begin, buckets[i].begin);
      const std::int64_t to = std::min(range.begin + range.count, end);
      if (from >= to) continue;
      RG_ASSERT(!range.is_layer || to - from == range.count);  // a parameter is never split between buckets
      parts[i].push_back(
          {.begin = from, .count = to - from, .weight_decay = range.weight_decay, .is_layer = range.is_layer});
    }
  }
  return parts;
}

std::vector<SentBucket> join_buckets(const std::vector<engine::Bucket>& buckets, std::size_t bytes) {
  const auto elements = static_cast<std::int64_t>(bytes / sizeof(float));  // as the executable cuts its buckets
  std::vector<SentBucket> joined;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const bool is_full = joined.empty() || joined.back().place.count >= elements;
    if (is_full) joined.push_back({.place = {buckets[i].begin, 0}});
    joined.back().place.count += buckets[i].count;
    joined.back().last = static_cast<std::int64_t>(i);
  }
  return joined;
}

}  // namespace roentgen::train
