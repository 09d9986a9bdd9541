// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Formulas for tests: the expected samples of each batch and rank.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/random.h"
#include "data/stage/shard_options.h"

namespace roentgen::data {

/// Permutation of 0 .. n-1: Fisher-Yates from the end, driven by Random(seed, RandomStage::Shuffle, 0, epoch).
inline std::vector<std::uint32_t> shuffled_order(std::int64_t n, std::uint64_t seed, std::uint32_t epoch) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0U);
  Random random(seed, RandomStage::Shuffle, 0, epoch);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

/// Samples of step `step` on this rank. The step's global batch is consecutive in `order`, and rank r gets its r-th
/// part of `batch` samples. Returns fewer than `batch` only with Pad; Wrap repeats `order` as often as needed.
inline std::vector<std::uint32_t> batch_samples(const std::vector<std::uint32_t>& order, std::int64_t step,
                                                const ShardOptions& options) {
  const auto n = static_cast<std::int64_t>(order.size());
  const std::int64_t first = (step * options.ranks + options.rank) * options.batch;
  std::vector<std::uint32_t> samples;
  for (std::int64_t i = first; i < first + options.batch; ++i) {
    if (i < n || options.tail == Tail::Wrap) samples.push_back(order[static_cast<std::size_t>(i % n)]);
  }
  return samples;
}

}  // namespace roentgen::data
