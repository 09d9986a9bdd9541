// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/order.h"

#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/random.h"

namespace roentgen::data {
namespace {

constexpr std::array<std::pair<Tail, std::string_view>, 3> kTails{
    {{Tail::Pad, "pad"}, {Tail::Drop, "drop"}, {Tail::Wrap, "wrap"}}};

void check(const ShardOptions& options) {
  RG_ASSERT(options.batch > 0);
  RG_ASSERT(options.ranks > 0);
  RG_ASSERT(options.rank >= 0 && options.rank < options.ranks);
}

}  // namespace

std::string_view name_of(Tail tail) { return kTails.at(static_cast<std::size_t>(tail)).second; }

Tail parse_tail(std::string_view text) {
  for (const auto& [tail, name] : kTails) {
    if (name == text) return tail;
  }
  throw ConfigError(error_text("data.order", "tail", "pad, drop or wrap", text, "--set train.tail=drop"));
}

std::vector<std::uint32_t> epoch_order(std::int64_t n, std::uint64_t seed, std::uint32_t epoch, Shuffle shuffle) {
  RG_ASSERT(n >= 0 && n <= static_cast<std::int64_t>(UINT32_MAX));
  std::vector<std::uint32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0U);
  if (shuffle == Shuffle::No) return order;
  Random random(seed, RandomStage::Shuffle, 0, epoch);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

std::int64_t steps_per_epoch(std::int64_t n, const ShardOptions& options) {
  check(options);
  const std::int64_t global = options.batch * options.ranks;
  return options.tail == Tail::Drop ? n / global : (n + global - 1) / global;
}

std::vector<std::uint32_t> batch_samples(const std::vector<std::uint32_t>& order, std::int64_t step,
                                         const ShardOptions& options) {
  const auto n = static_cast<std::int64_t>(order.size());
  RG_ASSERT(step >= 0 && step < steps_per_epoch(n, options));
  const std::int64_t first = (step * options.ranks + options.rank) * options.batch;
  std::vector<std::uint32_t> samples;
  samples.reserve(static_cast<std::size_t>(options.batch));
  for (std::int64_t i = first; i < first + options.batch; ++i) {
    if (i < n || options.tail == Tail::Wrap) samples.push_back(order[static_cast<std::size_t>(i % n)]);
  }
  return samples;
}

}  // namespace roentgen::data
