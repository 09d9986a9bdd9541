// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The loader with other pipelines than the default. Rows must be equal whichever thread does the work, and a resumed
// run must get the rest of its epoch.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <thread>

#include "core/error.h"
#include "data/stage/loader.h"
#include "data/stage/loader_testing.h"
#include "data/stage/storage.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

// Pipelines that produce the same order but do the work in different stages.
constexpr std::array kWays{
    "samples | shuffle | shard | repeat | map_and_batch(1)",
    "samples | shuffle | shard | repeat | map_and_batch(4) | prefetch(1)",
    "samples | shuffle | shard | repeat | map_and_batch(16) | prefetch",
    "samples | shuffle | shard | repeat | map_and_batch(2, reads=9) | prefetch",
    "samples | shuffle | shard | repeat | map | batch",
    "samples | shuffle | shard | repeat | map(4) | batch | prefetch(2)",
    "samples | shuffle | shard | map(16) | prefetch(7) | repeat | batch | prefetch(2)",
    "samples | shuffle | prefetch(3) | map(2) | shard | repeat | prefetch | batch",
};

class PipelineTest : public LoaderTest {
 protected:
  static LoaderOptions by(std::string_view pipeline, LoadMode mode = LoadMode::Training) {
    LoaderOptions wanted = options(mode);
    wanted.pipeline = parse_pipeline(pipeline);
    return wanted;
  }
  [[nodiscard]] std::string refusal(const LoaderOptions& wanted) const {
    try {
      static_cast<void>(run(wanted));
    } catch (const Error& error) {
      return error.what();
    }
    return "no refusal";
  }
  static std::vector<std::uint32_t> samples_of(const std::vector<Seen>& batches) {
    std::vector<std::uint32_t> samples;
    for (const Seen& batch : batches) samples.insert(samples.end(), batch.samples.begin(), batch.samples.end());
    return samples;
  }
  static std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> samples) {
    std::ranges::sort(samples);
    return samples;
  }
};

TEST_F(PipelineTest, gives_the_same_bytes_wherever_the_work_is_done) {
  const auto expected = run(options());
  ASSERT_EQ(expected.size(), 8U);
  for (const char* way : kWays) EXPECT_EQ(run(by(way)), expected) << way;
}

TEST_F(PipelineTest, gives_the_same_bytes_from_files_with_any_number_of_readers) {
  const auto one = run(by("files | shuffle | interleave(cycle=4) | shard | repeat | map_and_batch(1)"));
  ASSERT_EQ(one.size(), 8U);
  for (const int readers : {2, 4, 16}) {
    for (const int mappers : {1, 4, 16}) {
      EXPECT_EQ(run(by(fmt::format("files | shuffle | interleave(cycle=4, parallel={}) | shard | repeat | "
                                   "map_and_batch({}) | prefetch",
                                   readers, mappers))),
                one);
    }
  }
}

TEST_F(PipelineTest, runs_the_presets_with_every_sample_once_a_pass) {
  for (const PipelinePreset& preset : pipeline_presets()) {
    auto wanted = by(preset.text);
    wanted.epochs = 5;  // 23 * 5 = 115 is a multiple of 5
    const auto batches = run(wanted);
    EXPECT_EQ(run(wanted), batches) << preset.name;
    std::map<std::uint32_t, int> counts;
    for (const std::uint32_t sample : samples_of(batches)) ++counts[sample];
    // A wrapped tail uses two samples of a pass twice.
    const int most = preset.name == "naive" ? 10 : 5;
    for (const auto& [sample, count] : counts) EXPECT_LE(count, most) << preset.name << ' ' << sample;
    EXPECT_EQ(counts.size(), 23U) << preset.name;
  }
}

TEST_F(PipelineTest, resumes_at_any_batch_whatever_the_pipeline) {
  for (const std::string way :
       {"naive", "tf-official", "default", "samples | repeat | shuffle(9) | map(3) | batch | prefetch(2)",
        "files | interleave | map | cache | shard(wrap) | shuffle(8) | repeat | batch"}) {
    auto wanted = by(way);
    wanted.epochs = 3;
    const auto whole = run(wanted);
    Slots slots = slots_for(wanted);
    const std::int64_t steps = Loader(dataset_, everything(), wanted, slots.all()).steps_per_epoch();
    for (std::int64_t first = 0; first < std::ssize(whole); ++first) {
      wanted.start = {.epoch = static_cast<std::uint32_t>(first / steps), .batch = first % steps};
      EXPECT_EQ(run(wanted), std::vector<Seen>(whole.begin() + first, whole.end())) << way << " from " << first;
    }
  }
}

TEST_F(PipelineTest, goes_on_with_other_ranks_and_batches_over_what_was_not_seen) {
  const std::string way = "samples | shuffle | shard(pad) | repeat | map_and_batch | prefetch";
  auto then = by(way);
  then.shard = {.batch = 4, .ranks = 2};
  then.epochs = 3;
  std::vector<std::uint32_t> seen;
  for (then.shard.rank = 0; then.shard.rank < 2; ++then.shard.rank) {
    auto batches = run(then);
    batches.resize(5);  // three batches of epoch 0, two of epoch 1
    for (const Seen& batch : batches) {
      if (batch.epoch == 1) seen.insert(seen.end(), batch.samples.begin(), batch.samples.end());
    }
  }
  ASSERT_EQ(seen.size(), 16U);
  for (const int ranks : {1, 3, 8}) {
    std::vector<std::uint32_t> rest;
    for (int rank = 0; rank < ranks; ++rank) {
      auto now = by(way);
      now.shard = {.batch = 2, .rank = rank, .ranks = ranks};
      now.epochs = 3;
      now = resume_elsewhere(dataset_, everything(), then, {.epoch = 1, .batch = 2}, now);
      std::vector<std::uint32_t> last;
      for (const Seen& batch : run(now)) {
        auto& part = batch.epoch == 1 ? rest : last;
        part.insert(part.end(), batch.samples.begin(), batch.samples.end());
      }
      EXPECT_TRUE(ranks > 1 || sorted(last) == everything());
    }
    rest.insert(rest.end(), seen.begin(), seen.end());
    EXPECT_EQ(sorted(rest), everything()) << ranks << " ranks";
  }
}

TEST_F(PipelineTest, goes_on_elsewhere_again_and_again_within_an_epoch) {
  const std::string way = "samples | shuffle | shard(pad) | repeat | map_and_batch";
  auto now = by(way);
  now.epochs = 1;
  std::vector<std::uint32_t> seen;
  for (const std::int64_t batch : {4, 5, 3, 4}) {
    auto next = by(way);
    next.epochs = 1;
    next.shard.batch = batch;
    const std::int64_t taken = seen.empty() ? 0 : now.start.batch + 1;
    now = seen.empty() ? next : resume_elsewhere(dataset_, everything(), now, {.epoch = 0, .batch = taken}, next);
    const auto batches = run(now);
    ASSERT_FALSE(batches.empty());
    const std::size_t count = batch == 4 && !seen.empty() ? batches.size() : 1;  // the last batch has all other samples
    for (std::size_t i = 0; i < count; ++i) {
      seen.insert(seen.end(), batches[i].samples.begin(), batches[i].samples.end());
    }
  }
  EXPECT_EQ(sorted(seen), everything());
  auto other = by(way);
  other.seed = kSeed + 1;
  EXPECT_THROW(static_cast<void>(resume_elsewhere(dataset_, everything(), by(way), {}, other)), ConfigError);
}

TEST_F(PipelineTest, gives_no_batch_of_padding_to_a_training) {
  auto wanted = by("tf-official");
  wanted.shard.batch = 24;
  EXPECT_THAT(refusal(wanted), HasSubstr("[data.loader] images: expected at least one batch of 24"));
  EXPECT_THAT(refusal(wanted), HasSubstr("try more images, or a smaller train.batch"));
  wanted.shard.ranks = 2;
  EXPECT_THAT(refusal(wanted), HasSubstr("try more images, or a file per process"));
  wanted.shard.ranks = 1;
  wanted.pipeline = parse_pipeline("samples | shuffle | repeat | map_and_batch");
  EXPECT_THAT(refusal(wanted), HasSubstr("expected at least one batch of 24"));
}

// Each file takes 20 ms, so reading all of them would take half a second.
TEST_F(PipelineTest, stops_without_reading_what_nobody_waits_for) {
  for (const std::string way : {"samples | map | shuffle(500) | batch | prefetch",
                                "files | interleave(parallel=2) | map(2) | skip(20) | batch | prefetch",
                                "samples | map_and_batch(2) | prefetch"}) {
    EmulatedStorage storage({.open_s = 0.02});
    auto wanted = by(way);
    wanted.storage = &storage;
    Slots slots = slots_for(wanted);
    std::int64_t opened = 0;
    {
      Loader loader(dataset_, everything(), wanted, slots.all());
      while (storage.opened() == 0) std::this_thread::yield();
    }
    opened = storage.opened();
    EXPECT_LE(opened, 8) << way;
  }
}

TEST_F(PipelineTest, goes_on_with_the_next_epoch_where_nothing_was_left) {
  const std::string way = "samples | shuffle | shard(drop) | repeat | map_and_batch";
  auto then = by(way);
  then.shard.batch = 5;
  auto now = by(way);
  now.shard.batch = 7;
  now = resume_elsewhere(dataset_, everything(), then, {.epoch = 0, .batch = 4}, now);
  EXPECT_EQ(now.start, (LoaderPosition{1, 0}));
  EXPECT_EQ(run(now).size(), 3U);
}

TEST_F(PipelineTest, refuses_to_go_on_with_other_ranks_where_files_are_sharded) {
  const auto then = by("tf-official");
  EXPECT_THROW(static_cast<void>(resume_elsewhere(dataset_, everything(), then, {}, then)), ConfigError);
  EXPECT_THROW(static_cast<void>(resume_elsewhere(dataset_, everything(), by("default"), {}, by("naive"))),
               ConfigError);
}

TEST_F(PipelineTest, keeps_rows_in_its_cache_and_reads_no_file_again) {
  auto wanted = by("samples | map | cache | shuffle(50) | repeat | batch");
  wanted.augment = {};
  const auto expected = run(wanted);
  ASSERT_EQ(expected.size(), 8U);
  Slots slots = slots_for(wanted);
  Loader loader(dataset_, everything(), wanted, slots.all());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto batch = loader.next();
    ASSERT_TRUE(batch.has_value());
    EXPECT_EQ(slots.hash(batch->slot), expected[i].hash);
    loader.release(batch->slot);
    // The shuffle stage has already pulled the whole first pass into its buffer.
    if (i == 0) {
      for (const Sample& sample : dataset_.samples) std::filesystem::remove(sample.path);
    }
  }
}

TEST_F(PipelineTest, refuses_a_cache_beyond_its_limit) {
  auto wanted = by("samples | map | cache(1) | batch");
  wanted.preprocess.size_px = 320;  // 23 rows of 400 KiB
  EXPECT_THAT(
      refusal(wanted),
      HasSubstr("[data.pipeline] pipeline, stage cache: expected at most 1 MiB of cached data, got more after"));
}

TEST_F(PipelineTest, names_corrupt_files_whoever_reads_them) {
  damage(3);
  std::filesystem::remove(dataset_.samples[7].path);
  auto wanted = options();
  wanted.max_bad_share = 0.5;
  const auto expected = run(wanted);
  for (const char* way : kWays) {
    auto other = by(way);
    other.max_bad_share = 0.5;
    EXPECT_EQ(run(other), expected) << way;
  }
  for (const std::string way :
       {"files | interleave(parallel=4) | shard(pad) | map_and_batch", "samples | map(2) | batch"}) {
    EXPECT_THAT(refusal(by(way, LoadMode::Evaluation)), HasSubstr("3.png")) << way;
  }
}

TEST_F(PipelineTest, ends_with_a_padded_batch_without_a_shard) {
  const auto batches = run(by("samples | map(3) | batch | prefetch(1)"));
  ASSERT_EQ(batches.size(), 5U);
  EXPECT_EQ(samples_of(batches), everything());
  EXPECT_EQ(batches.back().samples.size(), 3U);
}

TEST_F(PipelineTest, works_ahead_just_as_far_as_prefetch_says) {
  for (const auto& [tail, ahead] : {std::pair<std::string, std::int64_t>{"", 0}, {" | prefetch(2)", 2}}) {
    EmulatedStorage storage({});
    auto wanted = by("samples | repeat | map_and_batch(2)" + tail);
    wanted.epochs = 4;
    wanted.storage = &storage;
    Slots slots = slots_for(wanted, 8);
    Loader loader(dataset_, everything(), wanted, slots.all());
    for (std::int64_t i = 1; i < 6; ++i) {
      loader.release(loader.next()->slot);
      const std::int64_t files = (i + ahead) * 5;
      while (storage.opened() < files) std::this_thread::yield();
      for (int turns = 0; turns < 1000; ++turns) std::this_thread::yield();  // gives a faulty loader time to read on
      EXPECT_EQ(storage.opened(), files) << tail;
    }
  }
}

TEST_F(PipelineTest, reports_every_stage) {
  auto wanted =
      by("files | shard | shuffle | interleave(cycle=2, parallel=3) | prefetch(4) | repeat | map_and_batch(2) "
         "| prefetch(1)");
  Slots slots = slots_for(wanted);
  Loader loader(dataset_, everything(), wanted, slots.all());
  int batches = 0;
  for (; const auto batch = loader.next(); ++batches) loader.release(batch->slot);
  const auto report = loader.report();
  ASSERT_EQ(report.size(), 8U);
  EXPECT_EQ(report[3].stage, "interleave(cycle=2, parallel=3)");
  EXPECT_EQ(report[3].meter.threads, 3);
  EXPECT_EQ(report[3].meter.capacity, 3);
  EXPECT_EQ(report[4].meter.capacity, 4);
  EXPECT_EQ(report[6].stage, "map_and_batch(parallel=2)");
  EXPECT_EQ(report[6].meter.threads, 2);
  EXPECT_EQ(report[7].meter.items, batches);
  EXPECT_GE(report[5].meter.items, batches * 5);
  EXPECT_GE(report[0].meter.items, 23);
  EXPECT_GT(report[5].meter.pull_s, 0.0);
}

TEST_F(PipelineTest, stops_in_the_middle_of_anything) {
  for (const char* way : kWays) {
    auto wanted = by(way);
    wanted.epochs = 0;
    Slots slots = slots_for(wanted);
    Loader loader(dataset_, everything(), wanted, slots.all());
    for (int i = 0; i < 3; ++i) {
      const auto batch = loader.next();
      ASSERT_TRUE(batch.has_value()) << way;
      loader.release(batch->slot);
    }
  }
}

}  // namespace
}  // namespace roentgen::data
