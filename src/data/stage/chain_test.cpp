// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Order of samples that stages produce, compared with formulas (order_testing.h), tf.data's definitions, and
// properties.
#include "data/stage/chain.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"
#include "data/stage/chain_testing.h"
#include "data/stage/order_testing.h"

namespace roentgen::data {
namespace {

using testing::ElementsAre;

const std::string kEnd = " | map_and_batch";

std::vector<std::uint32_t> first_numbers(std::size_t n) {
  std::vector<std::uint32_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> values) {
  std::ranges::sort(values);
  return values;
}

TEST(SamplesStage, gives_the_samples_in_order) {
  EXPECT_THAT(OrderOf("samples" + kEnd, {.samples = 4}).indices(), ElementsAre(0, 1, 2, 3));
}

TEST(TakeAndSkip, cut_every_pass) {
  const OrderOf order("samples | skip(2) | take(3) | repeat" + kEnd, {.epochs = 2});
  EXPECT_THAT(order.indices(), ElementsAre(2, 3, 4, 2, 3, 4));
  EXPECT_TRUE(OrderOf("samples | skip(10)" + kEnd).indices().empty());
  EXPECT_EQ(OrderOf("samples | take(99)" + kEnd).indices().size(), 10U);
}

TEST(RepeatStage, counts_passes_and_ends_where_there_is_nothing_to_repeat) {
  const auto elements = OrderOf("samples | repeat(3)" + kEnd, {.samples = 2}).elements();
  ASSERT_EQ(elements.size(), 6U);
  EXPECT_EQ(elements[0].epoch, 0U);
  EXPECT_EQ(elements[3].epoch, 1U);
  EXPECT_EQ(elements[5].epoch, 2U);
  EXPECT_TRUE(OrderOf("samples | skip(10) | repeat" + kEnd, {.epochs = 0}).indices().empty());
  EXPECT_EQ(OrderOf("samples | repeat" + kEnd, {.epochs = 0}).indices(1000).size(), 1000U);
}

TEST(ShuffleStage, of_everything_is_pinned) {
  // The order makes runs repeatable, so a change here would change every run. Expected values were computed separately
  // from the definition (Philox, Lemire, Fisher-Yates).
  EXPECT_THAT(OrderOf("samples | shuffle" + kEnd, {.samples = 8, .seed = 0}).indices(),
              ElementsAre(1, 7, 3, 4, 6, 2, 5, 0));
}

TEST(ShuffleStage, puts_every_sample_everywhere_equally_often) {
  // In 24000 shuffles of 4, each (sample, position) is expected 6000 times with standard deviation 67. The tolerance is
  // 5 standard deviations.
  const auto order = OrderOf("samples | shuffle | repeat" + kEnd, {.samples = 4, .epochs = 24000}).indices();
  std::map<std::pair<std::uint32_t, std::size_t>, int> seen;
  for (std::size_t i = 0; i < order.size(); ++i) ++seen[{order[i], i % 4}];
  EXPECT_EQ(seen.size(), 16U);
  for (const auto& [key, count] : seen) EXPECT_NEAR(count, 6000, 335);
}

RC_GTEST_PROP(ShuffleStage, of_everything_is_the_formulas_permutation_of_each_epoch, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(20, 500);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto order = OrderOf("samples | shuffle | repeat" + kEnd, {.samples = n, .seed = seed, .epochs = 2}).indices();
  const auto half = order.begin() + n;
  const std::vector<std::uint32_t> first(order.begin(), half), second(half, order.end());
  RC_ASSERT(first == shuffled_order(n, seed, 0));
  RC_ASSERT(second == shuffled_order(n, seed, 1));
  RC_ASSERT(first != second);
  RC_ASSERT(sorted(first) == first_numbers(static_cast<std::size_t>(n)));
}

RC_GTEST_PROP(ShuffleStage, with_a_buffer_gives_each_element_once_and_none_before_it_can_be_there, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 200);
  const auto buffer = *rc::gen::inRange<std::int64_t>(1, 250);
  const auto text = fmt::format("samples | shuffle({}){}", buffer, kEnd);
  const auto order = OrderOf(text, {.samples = n, .seed = *rc::gen::arbitrary<std::uint64_t>()}).indices();
  RC_ASSERT(sorted(order) == first_numbers(static_cast<std::size_t>(n)));
  for (std::size_t i = 0; i < order.size(); ++i) RC_ASSERT(order[i] < i + static_cast<std::size_t>(buffer));
}

TEST(ShuffleStage, two_of_them_draw_their_own_numbers) {
  const auto once = OrderOf("samples | shuffle" + kEnd, {.samples = 50}).indices();
  const auto twice = OrderOf("samples | shuffle | shuffle" + kEnd, {.samples = 50}).indices();
  std::vector<std::uint32_t> square;
  for (const std::uint32_t i : once) square.push_back(once[i]);
  EXPECT_NE(twice, once);
  EXPECT_NE(twice, square);
}

TEST(ShuffleAndRepeat, keep_passes_apart_in_this_order_and_blend_them_in_the_other) {
  const OrderOptions options{.samples = 40, .epochs = 3};
  const auto apart = OrderOf("samples | shuffle(20) | repeat" + kEnd, options).elements();
  EXPECT_TRUE(std::ranges::is_sorted(apart, {}, &Element::epoch));
  const auto blended = OrderOf("samples | repeat | shuffle(20)" + kEnd, options).elements();
  EXPECT_FALSE(std::ranges::is_sorted(blended, {}, &Element::epoch));
  for (const auto& elements : {apart, blended}) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (const Element& element : elements) seen.emplace(element.index, element.epoch);
    EXPECT_EQ(seen.size(), 120U);
    EXPECT_EQ(elements.size(), 120U);
  }
}

// Example from the documentation of tf.data.Dataset.range(...).interleave(...): cycle_length 2, block_length 4, five
// files of six elements each. Expected result:
//   1 1 1 1 2 2 2 2 1 1 2 2 3 3 3 3 4 4 4 4 3 3 4 4 5 5 5 5 5 5
TEST(InterleaveStage, goes_round_as_tf_data_says) {
  const auto order = OrderOf("files | interleave(cycle=2, block=4)" + kEnd, {.files = {6, 6, 6, 6, 6}}).indices();
  std::vector<std::uint32_t> files;
  for (const std::uint32_t sample : order) files.push_back(sample / 6 + 1);
  EXPECT_THAT(files,
              ElementsAre(1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5));
}

TEST(InterleaveStage, passes_over_empty_files_and_goes_on_with_unequal_ones) {
  EXPECT_THAT(OrderOf("files | interleave(2)" + kEnd, {.files = {0, 3, 0, 1, 2}}).indices(),
              ElementsAre(0, 1, 3, 2, 4, 5));
  EXPECT_THAT(OrderOf("files | interleave" + kEnd, {.files = {2, 0, 3}}).indices(), ElementsAre(0, 1, 2, 3, 4));
}

RC_GTEST_PROP(InterleaveStage, gives_each_sample_once, ()) {
  const auto files = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 9));
  RC_PRE(!files.empty());
  const auto cycle = *rc::gen::inRange(1, 12), block = *rc::gen::inRange(1, 5);
  const auto text = fmt::format("files | shuffle | interleave(cycle={}, block={}){}", cycle, block, kEnd);
  const auto order = OrderOf(text, {.files = files}).indices();
  RC_ASSERT(sorted(order) == first_numbers(order.size()));
  RC_ASSERT(static_cast<std::int64_t>(order.size()) == std::accumulate(files.begin(), files.end(), std::int64_t{0}));
}

RC_GTEST_PROP(ShardStage, gives_the_formulas_batches_on_every_rank, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 300);
  const Tail tail = *rc::gen::element(Tail::Pad, Tail::Drop, Tail::Wrap);
  const ShardOptions shard{
      .batch = *rc::gen::inRange<std::int64_t>(1, 20), .tail = tail, .ranks = *rc::gen::element(1, 2, 3, 8)};
  const auto text = fmt::format("samples | shuffle | shard({}){}", name_of(tail), kEnd);
  const auto order = shuffled_order(n, 7, 0);
  const std::int64_t global = shard.batch * shard.ranks;
  const std::int64_t steps = tail == Tail::Drop ? n / global : (n + global - 1) / global;
  for (int rank = 0; rank < shard.ranks; ++rank) {
    ShardOptions mine = shard;
    mine.rank = rank;
    const OrderOf of(text, {.samples = n, .shard = mine});
    RC_ASSERT(of.batches() == steps);
    std::vector<std::uint32_t> expected;
    for (std::int64_t step = 0; step < steps; ++step) {
      auto batch = batch_samples(order, step, mine);
      batch.resize(static_cast<std::size_t>(mine.batch), 999);
      expected.insert(expected.end(), batch.begin(), batch.end());
    }
    RC_ASSERT(of.indices() == expected);
  }
}

RC_GTEST_PROP(ShardStage, with_pad_each_sample_counts_exactly_once_over_all_ranks, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 300);
  const auto all = of_all_ranks(
      "samples | shard(pad)" + kEnd,
      {.samples = n,
       .shard = {.batch = *rc::gen::inRange<std::int64_t>(1, 20), .ranks = *rc::gen::element(1, 2, 3, 8)}});
  RC_ASSERT(all == first_numbers(static_cast<std::size_t>(n)));
}

RC_GTEST_PROP(ShardStage, gives_the_same_global_batches_at_any_rank_count, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 300);
  for (const Tail tail : {Tail::Pad, Tail::Drop, Tail::Wrap}) {
    const auto text = fmt::format("samples | shuffle | shard({}){}", name_of(tail), kEnd);
    const auto alone = of_all_ranks(text, {.samples = n, .shard = {.batch = 24}});
    for (const int ranks : {2, 3, 8}) {
      RC_ASSERT(of_all_ranks(text, {.samples = n, .shard = {.batch = 24 / ranks, .ranks = ranks}}) == alone);
    }
  }
}

TEST(ShardStage, deals_files_in_turn) {
  const OrderOptions options{.files = {2, 2, 2, 2, 2}, .shard = {.rank = 1, .ranks = 2}};
  EXPECT_THAT(OrderOf("files | shard | interleave" + kEnd, options).indices(), ElementsAre(2, 3, 6, 7));
}

TEST(BatchesPerEpoch, are_the_same_on_every_rank_where_files_are_unequal) {
  for (int rank = 0; rank < 2; ++rank) {
    const OrderOptions options{.files = {7, 3, 6}, .shard = {.batch = 2, .rank = rank, .ranks = 2}};
    // Rank 0 has 13 samples, rank 1 has 3.
    EXPECT_EQ(OrderOf("files | shard | interleave | repeat" + kEnd, options).batches(), 1);
    EXPECT_EQ(OrderOf("files | shard | interleave" + kEnd, options).batches(), 7);
  }
}

RC_GTEST_PROP(SamplesSeen, and_those_to_come_are_all_of_the_epoch, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 200);
  const ShardOptions shard{.batch = *rc::gen::inRange<std::int64_t>(1, 9), .ranks = *rc::gen::element(1, 2, 3, 8)};
  const auto epoch = *rc::gen::inRange<std::uint32_t>(0, 3);
  const std::string text = "samples | shuffle | shard(pad) | repeat" + kEnd;
  const OrderOf of(text, {.samples = n, .shard = shard, .epochs = 4});
  const auto batches = *rc::gen::inRange<std::int64_t>(0, of.batches() + 1);
  StageContext context = of.context();
  context.first_epoch = epoch;
  const auto seen = samples_seen(of.pipeline(), context, batches, epoch);
  RC_ASSERT(static_cast<std::int64_t>(seen.size()) == std::min(n, batches * shard.batch * shard.ranks));
  context.seen = &seen;
  context.shard = {.batch = *rc::gen::inRange<std::int64_t>(1, 9), .ranks = *rc::gen::element(1, 2, 3, 8)};
  std::vector<std::uint32_t> all = seen;
  const std::int64_t each = elements_per_epoch(of.pipeline(), context);
  for (context.shard.rank = 0; context.shard.rank < context.shard.ranks; ++context.shard.rank) {
    Chain chain(of.pipeline(), context);
    Element element;
    for (std::int64_t i = 0; i < each && chain.next(element); ++i) {
      if (!element.is_padding) all.push_back(element.index);
    }
  }
  RC_ASSERT(sorted(all) == first_numbers(static_cast<std::size_t>(n)));
}

TEST(Tail, has_names_that_read_back) {
  for (const Tail tail : {Tail::Pad, Tail::Drop, Tail::Wrap}) EXPECT_EQ(parse_tail(name_of(tail)), tail);
  EXPECT_THROW(static_cast<void>(parse_tail("cut")), ConfigError);
}

}  // namespace
}  // namespace roentgen::data
