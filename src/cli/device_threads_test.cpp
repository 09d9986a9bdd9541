// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/device_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <set>

#include "core/error.h"
#include "core/muted_thread.h"
#include "train/ranks.h"

namespace roentgen::cli {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

RankOptions on(const std::string& devices) {
  RankOptions options;
  options.devices = parse_devices(devices);
  return options;
}

TEST(DeviceThreads, devices_are_a_list) {
  EXPECT_TRUE(parse_devices("").empty());
  const auto two = parse_devices("cuda:0,3");
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[1], (engine::DeviceChoice{.engine = "cuda", .index = 3}));
  for (const char* const text : {"cuda", "cpu", "cuda:", "cuda:0,", "cuda:0,cuda:1", "0,1", "cuda:-1", "cuda:9999"}) {
    EXPECT_THROW(static_cast<void>(parse_devices(text)), ConfigError) << text;
  }
}

TEST(DeviceThreads, each_device_is_a_rank_and_the_first_one_answers) {
  const RankOptions options = on("cuda:4,2,7");
  std::mutex mutex;
  std::set<std::string> seen;
  const CommandResult result = run_as_threads(options, false, [&](dist::CommThread* group) {
    const train::Ranks ranks(group);
    EXPECT_EQ(ranks.gather("x", {.name = "test"}).size(), 3U);
    EXPECT_EQ(MutedThread::is_muted(), !ranks.is_first());
    const std::scoped_lock lock(mutex);
    seen.insert(std::to_string(ranks.rank()) + " " + device_of(options, group)->text());
    return CommandResult{.json = Value(ranks.rank())};
  });
  EXPECT_EQ(seen, (std::set<std::string>{"0 cuda:4", "1 cuda:2", "2 cuda:7"}));
  EXPECT_EQ(result.json.as_integer(), 0);
}

TEST(DeviceThreads, a_failure_ends_all_with_its_own_reason) {
  const auto run = [](int failing) {
    static_cast<void>(run_as_threads(on("cuda:0,1,2"), false, [&](dist::CommThread* group) -> CommandResult {
      const train::Ranks ranks(group);
      if (ranks.rank() == failing) throw DataError("rank " + std::to_string(failing) + " has no data");
      for (;;) static_cast<void>(ranks.gather("", {.name = "for ever"}));
    }));
  };
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_THAT([&] { run(rank); }, ThrowsMessage<DataError>("rank " + std::to_string(rank) + " has no data"));
  }
}

// Runs two ranks of which one never returns, as if its device hung, and the other one fails.
void run_with_hung(int hung, const std::function<void(const train::Ranks&)>& fail) {
  RankOptions options = on("cuda:0,1");
  options.timeout_s = 1;
  std::promise<void> never;
  const auto body = [&](dist::CommThread* group) -> CommandResult {
    const train::Ranks ranks(group);
    if (ranks.rank() == hung) never.get_future().wait();
    fail(ranks);
    return {};
  };
  static_cast<void>(run_as_threads(options, false, body, std::chrono::milliseconds{50}));
}

TEST(DeviceThreadsDeathTest, a_hung_device_ends_the_process_with_the_reason) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto wait = [](const train::Ranks& ranks) { static_cast<void>(ranks.gather("", {.name = "losses"})); };
  EXPECT_EXIT(run_with_hung(1, wait), testing::ExitedWithCode(kFailure), "no sign of rank 1.*a device hangs");
  const auto refuse = [](const train::Ranks&) { throw DataError("no data"); };
  EXPECT_EXIT(run_with_hung(0, refuse), testing::ExitedWithCode(kBadInput), "no data.*a device hangs");
}

TEST(DeviceThreads, nothing_else_starts_ranks_beside_them) {
  const auto run = [](const std::function<void(RankOptions&)>& change, bool is_launched) {
    RankOptions options = on("cuda:0,1");
    change(options);
    static_cast<void>(run_as_threads(options, is_launched, [](dist::CommThread*) { return CommandResult{}; }));
  };
  EXPECT_THAT([&] { run([](RankOptions& options) { options.asked_ranks = "2"; }, false); },
              ThrowsMessage<ConfigError>(
                  HasSubstr("--devices: expected a single process, which uses several GPUs, got --ranks")));
  EXPECT_THROW(run([](RankOptions& options) { options.servers.update = "ps"; }, false), ConfigError);
  EXPECT_THROW(run([](RankOptions&) {}, true), ConfigError);
}

}  // namespace
}  // namespace roentgen::cli
