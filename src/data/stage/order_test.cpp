// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/error.h"

namespace roentgen::data {
namespace {

using testing::ElementsAre;

/// All samples that the ranks get in an epoch, step by step, rank by rank.
std::vector<std::uint32_t> all_samples(const std::vector<std::uint32_t>& order, ShardOptions options) {
  std::vector<std::uint32_t> all;
  const auto steps = steps_per_epoch(static_cast<std::int64_t>(order.size()), options);
  for (std::int64_t step = 0; step < steps; ++step) {
    for (options.rank = 0; options.rank < options.ranks; ++options.rank) {
      const auto samples = batch_samples(order, step, options);
      all.insert(all.end(), samples.begin(), samples.end());
    }
    options.rank = 0;
  }
  return all;
}

ShardOptions shard(Tail tail, int ranks, std::int64_t batch) {
  return {.batch = batch, .tail = tail, .rank = 0, .ranks = ranks};
}

TEST(EpochOrder, is_the_identity_without_shuffling) {
  EXPECT_THAT(epoch_order(4, 1, 2, Shuffle::No), ElementsAre(0, 1, 2, 3));
}

TEST(EpochOrder, is_pinned) {
  // The order is part of what makes a run repeatable: a change here changes every run. The
  // expected values were computed apart from this code, from the definition (Philox, Lemire, Fisher-Yates).
  EXPECT_THAT(epoch_order(8, 0, 0, Shuffle::Yes), ElementsAre(1, 7, 3, 4, 6, 2, 5, 0));
}

TEST(EpochOrder, is_empty_for_nothing) { EXPECT_TRUE(epoch_order(0, 0, 0, Shuffle::Yes).empty()); }

TEST(EpochOrder, puts_every_sample_everywhere_equally_often) {
  // 24000 shuffles of 4: each (sample, place) is expected 6000 times, standard deviation 67; 5 of them are allowed.
  std::map<std::pair<std::uint32_t, std::size_t>, int> seen;
  for (std::uint32_t epoch = 0; epoch < 24000; ++epoch) {
    const auto order = epoch_order(4, 11, epoch, Shuffle::Yes);
    for (std::size_t place = 0; place < 4; ++place) ++seen[{order[place], place}];
  }
  EXPECT_EQ(seen.size(), 16U);
  for (const auto& [key, count] : seen) EXPECT_NEAR(count, 6000, 335);
}

RC_GTEST_PROP(EpochOrder, is_a_permutation_that_depends_on_seed_and_epoch, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(20, 500);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto epoch = *rc::gen::inRange<std::uint32_t>(0, 1000);
  const auto order = epoch_order(n, seed, epoch, Shuffle::Yes);
  RC_ASSERT(order == epoch_order(n, seed, epoch, Shuffle::Yes));
  RC_ASSERT(order != epoch_order(n, seed, epoch + 1, Shuffle::Yes));
  RC_ASSERT(order != epoch_order(n, seed + 1, epoch, Shuffle::Yes));
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  RC_ASSERT(sorted == epoch_order(n, seed, epoch, Shuffle::No));
}

RC_GTEST_PROP(Sharding, with_pad_each_sample_counts_exactly_once, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 300);
  const int ranks = *rc::gen::element(1, 2, 3, 8);
  const auto batch = *rc::gen::inRange<std::int64_t>(1, 20);
  const auto order = epoch_order(n, 3, 1, Shuffle::Yes);
  RC_ASSERT(all_samples(order, shard(Tail::Pad, ranks, batch)) == order);
}

RC_GTEST_PROP(Sharding, with_drop_every_batch_is_full_and_no_sample_comes_twice, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 300);
  const int ranks = *rc::gen::element(1, 2, 3, 8);
  const auto batch = *rc::gen::inRange<std::int64_t>(1, 20);
  const auto order = epoch_order(n, 3, 1, Shuffle::Yes);
  const auto all = all_samples(order, shard(Tail::Drop, ranks, batch));
  RC_ASSERT(static_cast<std::int64_t>(all.size()) == n / (batch * ranks) * batch * ranks);
  RC_ASSERT(std::equal(all.begin(), all.end(), order.begin()));
}

RC_GTEST_PROP(Sharding, with_wrap_every_batch_is_full_and_every_sample_comes, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 300);
  const int ranks = *rc::gen::element(1, 2, 3, 8);
  const auto batch = *rc::gen::inRange<std::int64_t>(1, 20);
  const auto order = epoch_order(n, 3, 1, Shuffle::Yes);
  const auto all = all_samples(order, shard(Tail::Wrap, ranks, batch));
  const auto size = static_cast<std::int64_t>(all.size());
  RC_ASSERT(size % (batch * ranks) == 0);
  RC_ASSERT(size >= n && size < n + batch * ranks);
  for (std::int64_t i = 0; i < size; ++i)
    RC_ASSERT(all[static_cast<std::size_t>(i)] == order[static_cast<std::size_t>(i % n)]);
}

RC_GTEST_PROP(Sharding, gives_the_same_global_batches_at_any_rank_count, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 300);
  const auto order = epoch_order(n, 3, 1, Shuffle::Yes);
  for (const Tail tail : {Tail::Pad, Tail::Drop, Tail::Wrap}) {
    const auto alone = all_samples(order, shard(tail, 1, 24));
    for (const int ranks : {2, 3, 8}) RC_ASSERT(all_samples(order, shard(tail, ranks, 24 / ranks)) == alone);
  }
}

TEST(Tail, has_names_that_read_back) {
  for (const Tail tail : {Tail::Pad, Tail::Drop, Tail::Wrap}) EXPECT_EQ(parse_tail(name_of(tail)), tail);
  EXPECT_THROW(static_cast<void>(parse_tail("cut")), ConfigError);
}

}  // namespace
}  // namespace roentgen::data
