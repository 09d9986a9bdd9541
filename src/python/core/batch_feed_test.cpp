// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests of BatchFeed: lent memory, threads, errors, and epochs that continue in another feed.
#include "python/core/batch_feed.h"

#include <set>
#include <thread>

#include "core/error.h"
#include "data/stage/loader_testing.h"

namespace roentgen::python {
namespace {

using data::LoadMode;

class BatchFeedTest : public data::LoaderTest {
 protected:
  [[nodiscard]] std::shared_ptr<const data::Dataset> shared() const {
    return std::make_shared<const data::Dataset>(dataset_);
  }
  // Options that the class roentgen.Loader uses: endless epochs.
  [[nodiscard]] FeedOptions feed_options(LoadMode mode = LoadMode::Training, std::int64_t batch = 5) const {
    FeedOptions feed{.loading = options(mode), .samples = everything()};
    feed.loading.shard.batch = batch;
    feed.loading.epochs = 0;
    if (mode == LoadMode::Evaluation) {
      feed.loading.pipeline = data::Pipeline({data::SamplesStage{}, data::ShardStage{.tail = data::Tail::Pad},
                                              data::RepeatStage{}, data::MapAndBatchStage{}, data::PrefetchStage{}});
    }
    return feed;
  }
  // Remaining batches of the epoch, all held at the same time.
  static std::vector<std::shared_ptr<LentBatch>> rest_of(BatchFeed& feed) {
    std::vector<std::shared_ptr<LentBatch>> batches;
    while (auto batch = feed.next()) batches.push_back(std::move(batch));
    return batches;
  }
  static std::vector<std::vector<std::byte>> pixels_of(const std::vector<std::shared_ptr<LentBatch>>& batches) {
    std::vector<std::vector<std::byte>> pixels;
    for (const auto& batch : batches) pixels.emplace_back(batch->images.begin(), batch->images.end());
    return pixels;
  }
};

TEST_F(BatchFeedTest, gives_epoch_after_epoch) {
  BatchFeed feed(shared(), feed_options());
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    const auto batches = rest_of(feed);
    ASSERT_EQ(std::ssize(batches), feed.steps_per_epoch());
    for (const auto& batch : batches) EXPECT_EQ(batch->epoch, epoch);
  }
}

TEST_F(BatchFeedTest, held_batches_stay_whatever_comes_after) {
  BatchFeed feed(shared(), feed_options());
  const auto held = rest_of(feed);  // holds all slots; further batches are copies
  const auto before = pixels_of(held);
  for (int epoch = 0; epoch < 3; ++epoch) rest_of(feed);
  EXPECT_EQ(pixels_of(held), before);
}

TEST_F(BatchFeedTest, batches_outlive_the_feed) {
  auto feed = std::make_unique<BatchFeed>(shared(), feed_options());
  const auto held = rest_of(*feed);
  const auto before = pixels_of(held);
  feed.reset();  // the workers of the feed wait for slots, because all are lent or full
  EXPECT_EQ(pixels_of(held), before);
}

TEST_F(BatchFeedTest, other_threads_let_batches_go_and_change_nothing) {
  BatchFeed expected(shared(), feed_options());
  BatchFeed feed(shared(), feed_options());
  std::vector<std::jthread> holders;
  for (int epoch = 0; epoch < 5; ++epoch) {
    const auto pixels = pixels_of(rest_of(expected));
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      holders.emplace_back(
          [batch = feed.next(), wanted = pixels[i]] { EXPECT_TRUE(std::ranges::equal(batch->images, wanted)); });
    }
    EXPECT_EQ(feed.next(), nullptr);
  }
}

TEST_F(BatchFeedTest, threads_share_a_feed) {
  constexpr int kBatches = 40;
  BatchFeed feed(shared(), feed_options());
  std::vector<std::vector<std::uint32_t>> epochs(4);
  {
    std::vector<std::jthread> readers;
    for (auto& read : epochs) {
      readers.emplace_back([&feed, &read] {
        for (int i = 0; i < kBatches; ++i) {
          if (const auto batch = feed.next()) read.push_back(batch->epoch);
          static_cast<void>(feed.stats());
          static_cast<void>(feed.state());
        }
      });
    }
  }
  std::vector<std::int64_t> counts(static_cast<std::size_t>(kBatches), 0);
  for (const auto& read : epochs) {
    EXPECT_TRUE(std::ranges::is_sorted(read));
    for (const std::uint32_t epoch : read) ++counts[epoch];
  }
  // Each epoch takes four calls for its batches and one for its end, so 160 calls read 32 epochs.
  for (std::size_t epoch = 0; epoch < 32; ++epoch) EXPECT_EQ(counts[epoch], feed.steps_per_epoch()) << epoch;
}

TEST_F(BatchFeedTest, feeds_of_one_data_set_do_not_meet) {
  const auto dataset = shared();
  BatchFeed one(dataset, feed_options()), two(dataset, feed_options());
  while (const auto batch = one.next()) {
    const auto other = two.next();
    ASSERT_NE(other, nullptr);
    EXPECT_TRUE(std::ranges::equal(batch->images, other->images));
  }
}

TEST_F(BatchFeedTest, an_image_that_cannot_be_read_is_told_in_every_pass) {
  damage(12);
  BatchFeed feed(shared(), feed_options(LoadMode::Evaluation));
  for (int pass = 0; pass < 3; ++pass) {
    feed.skip_to_next_epoch();
    EXPECT_THROW(rest_of(feed), DataError);
  }
  EXPECT_NO_THROW(static_cast<void>(feed.state()));
}

TEST_F(BatchFeedTest, a_refused_place_leaves_the_feed_as_it_was) {
  BatchFeed feed(shared(), feed_options()), expected(shared(), feed_options());
  FeedState wrong = feed.state();
  wrong.position.batch = 99;
  EXPECT_THROW(feed.restore(wrong), ConfigError);
  EXPECT_EQ(pixels_of(rest_of(feed)), pixels_of(rest_of(expected)));
}

TEST_F(BatchFeedTest, ranks_get_no_batch_without_rows) {
  std::multiset<std::uint32_t> seen;
  for (int rank = 0; rank < 3; ++rank) {
    // 23 images in steps of 15: the last step has 8, for two of three ranks
    FeedOptions shares = feed_options(LoadMode::Evaluation);
    shares.loading.shard.rank = rank;
    shares.loading.shard.ranks = 3;
    BatchFeed feed(shared(), shares);
    for (int pass = 0; pass < 2; ++pass) {
      feed.skip_to_next_epoch();
      const auto batches = rest_of(feed);
      EXPECT_EQ(std::ssize(batches), feed.steps_per_epoch());
      EXPECT_EQ(std::ssize(batches), rank < 2 ? 2 : 1);
      for (const auto& batch : batches) {
        EXPECT_GT(batch->rows, 0);
        if (pass == 0) seen.insert(batch->samples.begin(), batch->samples.end());
      }
    }
  }
  EXPECT_EQ(seen.size(), 23U);
}

// The epoch is read in batches of 2, then 3, then 3 in another process, then 1. No image occurs twice or is missing.
TEST_F(BatchFeedTest, an_epoch_that_moves_again_and_again_gives_every_image_once) {
  std::multiset<std::uint32_t> seen;
  std::optional<FeedState> state;
  const auto take = [&](std::int64_t batch, int batches) {
    BatchFeed feed(shared(), feed_options(LoadMode::Training, batch));
    if (state) feed.restore(*state);
    for (int i = 0; i < batches; ++i) {
      const auto given = feed.next();
      if (!given) break;
      seen.insert(given->samples.begin(), given->samples.end());
    }
    state = feed.state();
  };
  take(2, 3);
  take(3, 2);
  take(3, 2);
  take(1, 99);
  EXPECT_EQ(seen.size(), 23U);
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 23U);
}

}  // namespace
}  // namespace roentgen::python
