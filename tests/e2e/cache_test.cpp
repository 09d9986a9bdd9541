// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the cache file of decoded images and the memory budget through the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "core/sanitizer_testing.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kBest = "checkpoints/best.safetensors";

TEST(DiskCache, trains_to_the_same_weights_new_full_and_after_a_kill) {
  const Workplace place;
  const fs::path data = place.synth("data", 160);
  place.must_run(place.train_arguments(data, "plain"));
  const auto cached = [&](std::string_view run) {
    return plus(place.train_arguments(data, run), {"--cache-dir", place / "cache"});
  };
  {
    Process process(cached("killed"), place.root());
    static_cast<void>(process.wait_for_lines(place / "killed/log.jsonl", 1));
    process.signal(SIGKILL);
    static_cast<void>(process.wait());
  }
  place.must_run(cached("new"));
  const Ended full = place.must_run(plus(cached("full"), {"--verbose"}));
  for (const std::string run : {"new/", "full/"}) expect_equal_tensors(place / "plain" / kBest, place / run / kBest);
  // Training and validation images are cached; images of the test split were never requested.
  EXPECT_THAT(full.err,
              testing::ContainsRegex("cache: 1[0-9][0-9] of 160 images stored in .*images-[0-9a-f]+\\.cache"));
  EXPECT_EQ(std::distance(fs::directory_iterator(place / "cache"), fs::directory_iterator()), 1);
}

TEST(DiskCache, of_two_runs_at_once_gives_both_the_same_weights) {
  const Workplace place;
  const fs::path data = place.synth("data", 160);
  place.must_run(place.train_arguments(data, "plain"));
  fs::create_directories(place / "a");
  fs::create_directories(place / "b");
  const auto run = [&](std::string_view name) {
    return plus(place.train_arguments(data, name), {"--cache-dir", place / "cache"});
  };
  Process a(run("run-a"), place / "a"), b(run("run-b"), place / "b");
  EXPECT_EQ(a.wait().code, 0);
  EXPECT_EQ(b.wait().code, 0);
  for (const std::string name : {"run-a", "run-b"}) expect_equal_tensors(place / "plain" / kBest, place / name / kBest);
}

TEST(DiskCache, that_is_cut_short_ends_training_with_its_name) {
  const Workplace place;
  const fs::path data = place.synth("data", 60);
  Process process(
      plus(place.train_arguments(data, "run"), {"--cache-dir", place / "cache", "--set", "train.epochs=9999"}),
      place.root());
  ASSERT_TRUE(process.wait_for_lines(place / "run/log.jsonl", 1));
  for (const auto& entry : fs::directory_iterator(place / "cache")) fs::resize_file(entry.path(), 5000);
  const Ended ended = process.wait();
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err,
              testing::ContainsRegex(
                  "images-[0-9a-f]+\\.cache: expected .* bytes, got 5000 bytes, because the file was truncated"));
}

TEST(DiskCache, is_refused_where_it_cannot_be) {
  const Workplace place;
  const fs::path data = place.synth("data", 60);
  const auto train = [&](const std::vector<std::string>& more) {
    return place.run(plus(place.train_arguments(data, "run"), more));
  };
  expect_refusal(train({"--cache-dir", data / "cache"}), {"--cache-dir"});
  EXPECT_FALSE(fs::exists(data / "cache"));
  expect_refusal(train({"--set", "train.cache_px=64"}), {"train.cache_px", "train.cache=disk"});
  expect_stop(train({"--cache-dir", place.write("file", "")}), {"[data.cache]", "a folder that can be created"});
}

TEST(MemoryBudget, is_kept_over_twenty_epochs_without_growth) {
  if (!kIsMemoryOurs) GTEST_SKIP() << kMemoryIsNotOurs;
  const Workplace place;
  const fs::path data = place.synth("data", 160);
  const Ended run =
      place.must_run(plus(place.train_arguments(data, "run"), {"--set", "train.epochs=20", "--memory-budget", "40",
                                                               "--set", "train.slots=0", "--verbose"}));
  EXPECT_THAT(run.err, testing::ContainsRegex("input memory: [0-9.]+ of 40.0 MiB: .*8 batches"));
  EXPECT_THAT(run.err, HasSubstr("pipeline settled: "));
  std::vector<std::int64_t> held;
  std::istringstream lines(read_all(place / "run/log.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find("\"rss_bytes\":");
    if (at != std::string::npos) held.push_back(std::stoll(line.substr(at + 12)));
  }
  ASSERT_EQ(held.size(), 20U);
  EXPECT_GT(held.back(), 0);
  // Allows for pages of the allocator, but not for growth with each image (120 images of 1 KiB, 20 times, are 2.4 MiB).
  EXPECT_LE(held.back(), held[4] + (std::int64_t{1} << 20)) << testing::PrintToString(held);
}

TEST(MemoryBudget, refuses_a_pipeline_that_does_not_fit_and_says_what_takes_what) {
  const Workplace place;
  const fs::path data = place.synth("data", 60);
  const auto budget = [&](const std::string& mebibytes, const std::vector<std::string>& more) {
    return place.run(plus(plus(place.train_arguments(data, "run"), {"--memory-budget", mebibytes}), more));
  };
  expect_stop(
      budget("1", {"--set", "train.slots=64", "--set", "train.batch=8"}),
      {"[data.memory] memory of the input pipeline: expected at most 1.0 MiB", "64 batches", "decoding threads"});
  EXPECT_FALSE(fs::exists(place / "run/checkpoints"));
  expect_stop(budget("1", {"--set", "train.slots=1"}), {"train.slots: expected 2 or more"});
}

}  // namespace
}  // namespace roentgen::e2e
