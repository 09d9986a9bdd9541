// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The loader on slow storage: files are prefetched by extra reading threads.
#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "data/stage/loader.h"
#include "data/stage/loader_testing.h"
#include "data/stage/storage.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

class ReadingAhead : public LoaderTest {
 protected:
  static LoaderOptions by(std::string_view pipeline) {
    LoaderOptions wanted = options();
    wanted.pipeline = parse_pipeline(pipeline);
    return wanted;
  }
  static const StageMeter& batching(const std::vector<StageReport>& report) {
    const auto found =
        std::ranges::find_if(report, [](const StageReport& one) { return one.stage.starts_with("map_and_batch"); });
    return found->meter;
  }
};

TEST_F(ReadingAhead, gives_the_same_batches_as_reading_one_file_at_a_time) {
  damage(3, "no image");
  std::filesystem::remove(dataset_.samples[7].path);
  auto wanted = by("samples | shuffle | shard | repeat | map_and_batch(1, reads=1)");
  wanted.max_bad_share = 0.5;
  const auto expected = run(wanted);
  EmulatedStorage storage({.open_s = 0.001});
  for (const char* way : {"samples | shuffle | shard | repeat | map_and_batch(1, reads=6)",
                          "samples | shuffle | shard | repeat | map_and_batch(2, reads=24) | prefetch",
                          "samples | shuffle | shard | repeat | map_and_batch(2) | prefetch"}) {
    wanted.pipeline = parse_pipeline(way);
    wanted.storage = &storage;
    EXPECT_EQ(run(wanted), expected) << way;
  }
}

TEST_F(ReadingAhead, begins_where_threads_wait_for_storage) {
  EmulatedStorage storage({.open_s = 0.004});
  auto wanted = by("samples | shuffle | shard | repeat | map_and_batch(1) | prefetch");
  wanted.epochs = 0;
  wanted.storage = &storage;
  Slots slots = slots_for(wanted, 4);
  Loader loader(dataset_, everything(), wanted, slots.all());
  constexpr int kMostBatches = 100;
  int batches = 0;
  for (; batches < kMostBatches && batching(loader.report()).readers == 0; ++batches) {
    loader.release(loader.next()->slot);
  }
  EXPECT_LT(batches, kMostBatches) << "no thread reads ahead";
  EXPECT_EQ(batching(loader.report()).threads, 1);
}

TEST_F(ReadingAhead, never_begins_where_it_may_not) {
  EmulatedStorage storage({.open_s = 0.001});
  auto wanted = by("samples | shuffle | shard | repeat | map_and_batch(1) | prefetch");
  wanted.storage = &storage;
  wanted.most_readers = 0;
  Slots slots = slots_for(wanted, 4);
  Loader loader(dataset_, everything(), wanted, slots.all());
  while (const auto batch = loader.next()) loader.release(batch->slot);
  EXPECT_EQ(batching(loader.report()).readers, 0);
}

TEST_F(ReadingAhead, is_for_files_that_no_stage_before_has_read) {
  EmulatedStorage storage({.open_s = 0.001});
  auto wanted = by("files | shard | shuffle | interleave(cycle=3, parallel=3) | repeat | map_and_batch(1)");
  wanted.storage = &storage;
  Slots slots = slots_for(wanted, 4);
  Loader loader(dataset_, everything(), wanted, slots.all());
  while (const auto batch = loader.next()) loader.release(batch->slot);
  EXPECT_EQ(batching(loader.report()).readers, 0);
}

TEST_F(ReadingAhead, counts_time_right_whatever_the_size_of_a_batch) {
  EmulatedStorage storage({.open_s = 0.002});
  for (const std::int64_t batch : {1, 7, 8, 9, 16, 17}) {
    auto wanted = by("samples | shuffle | shard(wrap) | repeat | map_and_batch(1, reads=1) | prefetch");
    wanted.shard.batch = batch;
    wanted.shard.tail = Tail::Wrap;
    wanted.storage = &storage;
    Slots slots = slots_for(wanted, 2);
    Loader loader(dataset_, everything(), wanted, slots.all());
    std::int64_t rows = 0;
    for (auto next = loader.next(); next; next = loader.next()) {
      rows += next->valid;
      loader.release(next->slot);
    }
    const double busy_s = batching(loader.report()).busy_s;
    EXPECT_GT(busy_s, 0.002 * static_cast<double>(rows)) << batch << ": every row waited so long";
  }
}

TEST_F(ReadingAhead, takes_the_threads_it_is_told_to) {
  auto wanted = by("samples | shuffle | shard | repeat | map_and_batch(2, reads=7)");
  Slots slots = slots_for(wanted, 2);
  const Loader loader(dataset_, everything(), wanted, slots.all());
  EXPECT_EQ(loader.pipeline().text(), "samples | shuffle | shard | repeat | map_and_batch(parallel=2, reads=7)");
  EXPECT_EQ(batching(loader.report()).threads, 2);
  EXPECT_EQ(batching(loader.report()).readers, 5);
}

TEST_F(ReadingAhead, ends_while_many_files_are_being_read) {
  EmulatedStorage storage({.open_s = 0.02});
  auto wanted = by("samples | shuffle | shard | repeat | map_and_batch(1, reads=8)");
  wanted.storage = &storage;
  Slots slots = slots_for(wanted, 4);
  {
    Loader loader(dataset_, everything(), wanted, slots.all());
    static_cast<void>(loader.next());
  }
  EXPECT_LE(storage.opened(), 3 * wanted.shard.batch);
}

TEST_F(ReadingAhead, is_refused_in_numbers_that_make_no_sense) {
  for (const char* reads : {"0", "-1", "1025", "many"}) {
    try {
      static_cast<void>(by(std::string("samples | map_and_batch(1, reads=") + reads + ")"));
      FAIL() << reads;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr("stage map_and_batch, reads: expected auto or a number from 1 to 1024"));
    }
  }
}

}  // namespace
}  // namespace roentgen::data
