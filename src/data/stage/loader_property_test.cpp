// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Random pipelines, ranks, threads and positions (seeds are in the messages). Batches must have the same bytes with 1,
// 4 and 16 threads, and their number must be equal on 1, 2, 3 and 8 ranks. Evaluation must return every sample once. A
// run resumed with any number of ranks must return exactly the unseen samples.
#include <algorithm>
#include <array>
#include <map>

#include "core/error.h"
#include "data/stage/loader_testing.h"

namespace roentgen::data {
namespace {

constexpr std::array kRanks{1, 2, 3, 8};
constexpr std::array kThreads{1, 4, 16};
constexpr std::uint64_t kCases = 8;

/// Random valid order of stages; P in the text stands for a number of threads.
class RandomWay {
 public:
  explicit RandomWay(std::uint64_t seed) : random_(seed, RandomStage::Test) {
    random_.below(2) == 0 ? begin_with_files() : begin_with_samples();
    maybe(" | prefetch(" + number(6) + ")");
    const bool is_early = random_.below(2) == 0;
    if (is_early) text_ += " | repeat";
    if (!is_early) end_with_rows(" | repeat");
    if (is_early) random_.below(2) == 0 ? end_with_rows("") : static_cast<void>(text_ += " | map_and_batch(P)");
    maybe(" | prefetch(" + number(3) + ")");
  }
  [[nodiscard]] std::string text(int threads) const {
    std::string text = text_;
    for (auto at = text.find('P'); at != std::string::npos; at = text.find('P')) {
      text.replace(at, 1, std::to_string(threads));
    }
    return text;
  }

 private:
  void maybe(const std::string& stage) {
    if (random_.below(2) == 0) text_ += stage;
  }
  std::string number(std::uint64_t most) { return std::to_string(1 + random_.below(most)); }
  void begin_with_files() {
    text_ = "files";
    const bool is_sharded = random_.below(2) == 0;
    if (is_sharded) text_ += " | shard";
    maybe(" | shuffle");
    text_ += " | interleave(cycle=" + number(5) + ", block=" + number(2) + ", parallel=P)";
    if (!is_sharded) text_ += " | shard(wrap)";
  }
  void begin_with_samples() {
    text_ = "samples | shuffle";
    if (random_.below(2) == 0) text_ += "(" + number(30) + ")";
    constexpr std::array kTails{"drop", "wrap", "pad"};
    text_ += std::string(" | shard(") + kTails.at(random_.below(kTails.size())) + ")";
  }
  void end_with_rows(const std::string& before_batch) {
    text_ += " | map(P)";
    maybe(" | prefetch(" + number(6) + ")");
    text_ += before_batch + " | batch";
  }

  Random random_;
  std::string text_;
};

class LoaderProperty : public LoaderTest {
 protected:
  static LoaderOptions by(const RandomWay& way, int threads) {
    LoaderOptions wanted = options();
    wanted.pipeline = parse_pipeline(way.text(threads));
    wanted.workers = threads;
    return wanted;
  }
  static std::map<std::uint32_t, int> counts_of(const std::vector<Seen>& batches, std::uint32_t epoch) {
    std::map<std::uint32_t, int> counts;
    for (const Seen& batch : batches) {
      if (batch.epoch != epoch) continue;
      for (const std::uint32_t sample : batch.samples) ++counts[sample];
    }
    return counts;
  }
};

TEST_F(LoaderProperty, any_pipeline_gives_the_same_bytes_with_1_4_and_16_threads_and_from_any_batch) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const RandomWay way(seed);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << way.text(1));
    const auto whole = run(by(way, 1));
    ASSERT_FALSE(whole.empty());
    for (const int threads : kThreads) EXPECT_EQ(run(by(way, threads)), whole) << threads << " threads";
    Random random(seed, RandomStage::Test, 1);
    const auto first = static_cast<std::int64_t>(random.below(whole.size()));
    LoaderOptions rest = by(way, kThreads.at(random.below(kThreads.size())));
    const std::int64_t steps = steps_per_epoch(dataset_, everything(), rest);
    rest.start = {.epoch = static_cast<std::uint32_t>(first / steps), .batch = first % steps};
    EXPECT_EQ(run(rest), std::vector<Seen>(whole.begin() + first, whole.end())) << "from batch " << first;
  }
}

TEST_F(LoaderProperty, any_pipeline_gives_all_ranks_equally_many_batches) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const RandomWay way(seed);
    for (const int ranks : kRanks) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << ranks << " ranks: " << way.text(4));
      std::vector<std::size_t> batches;
      for (int rank = 0; rank < ranks; ++rank) {
        LoaderOptions wanted = by(way, 4);
        wanted.shard = {.batch = static_cast<std::int64_t>(1 + seed % 2), .rank = rank, .ranks = ranks};
        batches.push_back(run(wanted).size());
        EXPECT_EQ(static_cast<std::int64_t>(batches.back()), 2 * steps_per_epoch(dataset_, everything(), wanted));
      }
      EXPECT_EQ(std::ranges::count(batches, batches.front()), ranks);
    }
  }
}

TEST_F(LoaderProperty, in_evaluation_each_sample_comes_once_over_all_ranks) {
  for (const int ranks : kRanks) {
    for (const int threads : kThreads) {
      Random random(static_cast<std::uint64_t>(ranks * 100 + threads), RandomStage::Test);
      LoaderOptions wanted = options(LoadMode::Evaluation);
      wanted.workers = threads;
      wanted.shard = {.batch = static_cast<std::int64_t>(1 + random.below(9)), .tail = Tail::Pad, .ranks = ranks};
      SCOPED_TRACE(testing::Message() << ranks << " ranks, " << threads << " threads, batch " << wanted.shard.batch);
      std::map<std::uint32_t, int> counts;
      std::vector<std::size_t> batches;
      for (wanted.shard.rank = 0; wanted.shard.rank < ranks; ++wanted.shard.rank) {
        const auto seen = run(wanted);
        batches.push_back(seen.size());
        for (const auto& [sample, count] : counts_of(seen, 0)) counts[sample] += count;
      }
      EXPECT_EQ(std::ranges::count(batches, batches.front()), ranks);
      EXPECT_EQ(counts.size(), dataset_.samples.size());
      for (const auto& [sample, count] : counts) EXPECT_EQ(count, 1) << "sample " << sample;
    }
  }
}

TEST_F(LoaderProperty, goes_on_with_any_ranks_batch_and_threads_over_just_what_was_not_seen) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    Random random(seed, RandomStage::Test, 2);
    const auto draw = [&random](const auto& choices) { return choices.at(random.below(choices.size())); };
    const auto drawn = [&] {
      LoaderOptions wanted = options();
      wanted.workers = draw(kThreads);
      wanted.pipeline = parse_pipeline("samples | shuffle | shard(pad) | repeat | map_and_batch");
      wanted.shard = {.batch = static_cast<std::int64_t>(1 + random.below(5)), .ranks = draw(kRanks)};
      return wanted;
    };
    LoaderOptions then = drawn(), now = drawn();
    const std::int64_t steps = steps_per_epoch(dataset_, everything(), then);
    const auto taken = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(steps)));
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << then.shard.ranks << " x " << then.shard.batch
                                    << ", after " << taken << " batches " << now.shard.ranks << " x "
                                    << now.shard.batch);
    std::map<std::uint32_t, int> counts;
    for (then.shard.rank = 0; then.shard.rank < then.shard.ranks; ++then.shard.rank) {
      auto batches = run(then);
      batches.resize(static_cast<std::size_t>(taken));
      for (const auto& [sample, count] : counts_of(batches, 0)) counts[sample] += count;
    }
    then.shard.rank = 0;
    for (int rank = 0; rank < now.shard.ranks; ++rank) {
      LoaderOptions mine = now;
      mine.shard.rank = rank;
      mine = resume_elsewhere(dataset_, everything(), then, {.epoch = 0, .batch = taken}, mine);
      for (const auto& [sample, count] : counts_of(run(mine), 0)) counts[sample] += count;
    }
    EXPECT_EQ(counts.size(), dataset_.samples.size());
    for (const auto& [sample, count] : counts) EXPECT_EQ(count, 1) << "sample " << sample;
  }
}

}  // namespace
}  // namespace roentgen::data
