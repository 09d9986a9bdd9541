// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/memory_plan.h"

#include <map>

#include "data/stage/loader_testing.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kFile = 1000, kDecoded = 5000, kRow = 700;

std::map<std::string, std::uint64_t> uses_of(std::string_view pipeline) {
  const MemoryNeeds needs{.samples = 300,
                          .sample = {.file = kFile, .decoded = kDecoded},
                          .batch = 8,
                          .row_bytes = kRow,
                          .workers = 2,
                          .slots = 3};
  std::map<std::string, std::uint64_t> by_name;
  for (const MemoryUse& use : memory_uses(parse_pipeline(pipeline), needs)) by_name[use.what] = use.bytes;
  return by_name;
}

TEST(MemoryPlan, of_names_holds_batches_and_what_threads_work_with) {
  const std::map<std::string, std::uint64_t> wanted{{"2 decoding threads", 2 * 3 * (kFile + kDecoded)},
                                                    {"3 batches", 3 * 8 * kRow}};
  EXPECT_EQ(uses_of("default"), wanted);
  EXPECT_EQ(uses_of("samples | cache(where=disk) | shuffle | repeat | map_and_batch | prefetch"), wanted);
}

TEST(MemoryPlan, of_files_holds_their_bytes_in_every_queue) {
  const auto uses = uses_of(
      "files | shuffle | interleave(cycle=10, parallel=4) | prefetch(count=64) | shuffle(buffer=200) | repeat | "
      "map_and_batch(parallel=5)");
  EXPECT_EQ(uses.at("prefetch(count=64)"), 64 * (kFile + 32));
  EXPECT_EQ(uses.at("shuffle(buffer=200)"), 200 * (kFile + 32));
  EXPECT_EQ(uses.at("interleave(cycle=10, parallel=4)"), 4 * 4 * kFile);
  EXPECT_EQ(uses.at("5 decoding threads"), 5 * 3 * (kFile + kDecoded));
  EXPECT_FALSE(uses.contains("shuffle"));  // holds only names
}

TEST(MemoryPlan, of_files_that_are_read_ahead_holds_their_bytes) {
  EXPECT_EQ(uses_of("samples | repeat | map_and_batch(2, reads=9)").at("7 files read ahead"), 7 * 3 * kFile);
  EXPECT_EQ(uses_of("samples | repeat | map_and_batch(4, reads=3)").count("0 files read ahead"), 0U);
}

TEST(MemoryPlan, reads_ahead_what_an_eighth_of_the_budget_holds) {
  EXPECT_EQ(readers_within(std::uint64_t{1} << 40U, {.file = 1000}), 32);
  EXPECT_EQ(readers_within(8 * 3 * 1000 * 5, {.file = 1000}), 5);
  EXPECT_EQ(readers_within(1000, {.file = 1000}), 0);
  EXPECT_EQ(readers_within(std::uint64_t{1} << 40U, {}), 32) << "no file could be looked at";
}

TEST(MemoryPlan, gives_readers_what_is_left_and_none_where_nothing_is) {
  const Pipeline pipeline = parse_pipeline("samples | repeat | map_and_batch | prefetch");
  const MemoryWishes wishes{.needs = {.samples = 300,
                                      .sample = {.file = kFile, .decoded = kDecoded},
                                      .batch = 8,
                                      .row_bytes = kRow,
                                      .workers = 2,
                                      .slots = 2}};
  const std::uint64_t least = total_bytes(memory_uses(pipeline, wishes.needs));
  EXPECT_EQ(share_memory(pipeline, wishes, least).readers, 0);
  EXPECT_EQ(share_memory(pipeline, wishes, least + 8 * 3 * kFile * 5).readers, 5);
  EXPECT_THROW(static_cast<void>(share_memory(pipeline, wishes, least - 1)), ConfigError);
  const Pipeline fed = parse_pipeline("files | interleave | repeat | map_and_batch");
  EXPECT_EQ(share_memory(fed, wishes, std::uint64_t{1} << 40U).readers, 0) << "files are read before";
}

TEST(MemoryPlan, of_rows_holds_no_more_than_there_are) {
  const auto uses = uses_of("samples | map(parallel=2) | cache(limit_mb=1) | shuffle(buffer=5000) | repeat | batch");
  EXPECT_EQ(uses.at("shuffle(buffer=5000)"), 300 * (kRow + 32));
  EXPECT_EQ(uses.at("cache(limit_mb=1)"), 300 * kRow);
  EXPECT_EQ(uses.at("map(parallel=2)"), 2 * (kRow + 3 * (kFile + kDecoded)));
}

TEST(MemoryPlan, says_what_takes_how_much_where_it_does_not_fit) {
  const std::vector<MemoryUse> uses{{.what = "3 batches", .bytes = 1 << 20}, {.what = "shuffle", .bytes = 5 << 20}};
  EXPECT_EQ(require_fits(uses, 7U << 20U), 1U << 20U);
  try {
    static_cast<void>(require_fits(uses, 4U << 20U));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(
        error.what(),
        HasSubstr("[data.memory] memory of the input pipeline: expected at most 4.0 MiB, got 6.0 MiB: shuffle 5.0 "
                  "MiB, 3 batches 1.0 MiB; try"));
  }
}

TEST(MemoryPlan, shares_half_of_the_machine_among_the_ranks_that_are_on_it) {
  EXPECT_EQ(input_budget_bytes(0, 80'000, 1), 40'000U);
  EXPECT_EQ(input_budget_bytes(0, 80'000, 4), 10'000U);
  EXPECT_EQ(input_budget_bytes(0, 80'000, 0), 40'000U);
  EXPECT_EQ(input_budget_bytes(3, 80'000, 4), 3U << 20U) << "what is asked for is each rank's";
  EXPECT_GT(input_budget_bytes(0, 0, 4), std::uint64_t{1} << 60U) << "unknown";
}

TEST(MemoryPlan, gives_the_cache_what_as_many_slots_as_fit_leave) {
  MemoryWishes wishes{.needs = {.samples = 300, .sample = {.file = 0, .decoded = 0}, .batch = 10, .row_bytes = 10},
                      .others = {{.what = "validation", .bytes = 50}},
                      .cache_bytes = 1000};
  wishes.needs.slots = 8;
  const MemoryShares roomy = share_memory(parse_pipeline("default"), wishes, 900);
  EXPECT_EQ(roomy.slots, 8);
  EXPECT_EQ(roomy.cache_bytes, 50U);
  const MemoryShares tight = share_memory(parse_pipeline("default"), wishes, 475);
  EXPECT_EQ(tight.slots, 4);
  EXPECT_EQ(tight.cache_bytes, 25U);
  EXPECT_EQ(total_bytes(tight.uses), 475U);
  EXPECT_THAT(tight.text(), HasSubstr("4 batches"));
  EXPECT_EQ(share_memory(parse_pipeline("default"), wishes, 5000).cache_bytes, 1000U);
  EXPECT_THROW(static_cast<void>(share_memory(parse_pipeline("default"), wishes, 249)), ConfigError);
}

TEST(MemoryPlan, divides_the_cache_among_the_processes_that_share_it) {
  MemoryWishes wishes{.needs = {.samples = 300, .sample = {.file = 0, .decoded = 0}, .batch = 10, .row_bytes = 10},
                      .cache_bytes = 1000,
                      .cache_sharers = 4};
  const MemoryShares shares = share_memory(parse_pipeline("default"), wishes, 5000);
  EXPECT_EQ(shares.cache_bytes, 250U);
  EXPECT_THAT(shares.text(), HasSubstr("part of the node's cache of decoded images (limit)"));
}

class MemoryPlanSizes : public LoaderTest {};

TEST_F(MemoryPlanSizes, are_those_of_the_largest_image_that_can_be_read) {
  damage(16,
         "a file that is no image, and larger than every one of the others, which are small PNG files of noise: "
         "it is read all the same, so that its bytes count; of its pixels nothing is known, whatever they might be");
  const SampleBytes largest = largest_sample(dataset_, everything(), 1, 1000);
  EXPECT_EQ(largest.decoded, 15U * 13U);  // 19.png: 10 + 5 by 9 + 4
  EXPECT_GT(largest.file, 192U);
  const SampleBytes first = largest_sample(dataset_, everything(), 1, 1);
  EXPECT_EQ(first.decoded, 10U * 9U);
}

}  // namespace
}  // namespace roentgen::data
