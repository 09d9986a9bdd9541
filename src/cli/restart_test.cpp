// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/restart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.h"

namespace roentgen::cli {
namespace {

using testing::ElementsAre;

constexpr int kBySignal9 = 137;

// Calls run_with_restarts() with fake groups of ranks, which end as the test defines.
struct Supervised {
  struct Planned {
    GroupEnd end{};
    std::int64_t saved_step = -1;
  };
  std::vector<Planned> planned;
  std::vector<std::string> lost{};
  bool is_free = true;
  /// Number of ranks and command of each start.
  std::vector<std::string> started{};
  std::int64_t saved_step = -1;

  // Without hosts, there are three ranks; with hosts, by default one per slot.
  GroupEnd run(std::int64_t most, HostList hosts = {}, std::int64_t servers = 0, std::int64_t of_hosts = 0) {
    const RestartOptions options{.most = most,
                                 .saved_step = [this] { return saved_step; },
                                 .wait_until_free = [this] { return is_free; },
                                 .resumed =
                                     [](std::vector<std::string> command) {
                                       if (command.back() != "--resume") command.emplace_back("--resume");
                                       return command;
                                     }};
    const RestartCalls calls{.start =
                                 [this](const RankGroup& group) {
                                   std::string text = std::to_string(group.ranks);
                                   if (!group.hosts.empty()) text += " on " + text_of(group.hosts);
                                   for (const std::string& word : group.command) text += " " + word;
                                   const Planned& now = planned.at(started.size());
                                   started.push_back(text);
                                   saved_step = now.saved_step;
                                   return now.end;
                                 },
                             .find_answering =
                                 [this](HostList all) {
                                   std::erase_if(all, [this](const HostSlots& host) {
                                     return std::ranges::find(lost, host.name) != lost.end();
                                   });
                                   return all;
                                 }};
    const std::int64_t ranks = hosts.empty() ? 3 : of_hosts > 0 ? of_hosts : slots_of(hosts);
    std::vector<std::string> command{"train"};
    if (servers > 0) command = {"train", "--servers", std::to_string(servers), "-v"};
    return run_with_restarts(
        {.ranks = ranks, .hosts = std::move(hosts), .command = std::move(command), .servers = servers}, options, calls);
  }
};

TEST(Restart, goes_on_after_a_killed_rank_until_the_end) {
  Supervised job{.planned = {{{.exit_code = kBySignal9, .cause = "a"}, -1}, {{.exit_code = 1, .cause = "b"}, 4}, {}}};
  EXPECT_EQ(job.run(2).exit_code, kSuccess);
  EXPECT_THAT(job.started, ElementsAre("3 train", "3 train --resume", "3 train --resume"));
}

TEST(Restart, ends_with_the_last_exit_code_when_none_is_left) {
  Supervised job{.planned = {{{.exit_code = 1, .cause = "a"}, 2}, {{.exit_code = kBySignal9, .cause = "b"}, 4}}};
  EXPECT_EQ(job.run(1).exit_code, kBySignal9);
  EXPECT_EQ(job.started.size(), 2U);
  Supervised once{.planned = {{{.exit_code = 1}, 2}}};
  EXPECT_EQ(once.run(0).exit_code, 1);
}

TEST(Restart, leaves_bad_input_stops_and_signals) {
  for (const GroupEnd& end : {GroupEnd{}, GroupEnd{.exit_code = kBadInput}, GroupEnd{.exit_code = kStopped},
                              GroupEnd{.exit_code = 1, .signal = 15}}) {
    Supervised job{.planned = {{end, 2}}};
    EXPECT_EQ(job.run(5).exit_code, end.exit_code);
    EXPECT_EQ(job.started.size(), 1U);
  }
}

TEST(Restart, needs_a_run_that_no_process_uses) {
  const GroupEnd killed{.exit_code = kBySignal9};
  Supervised job{.planned = {{killed, 2}, {}}, .is_free = false};
  EXPECT_EQ(job.run(5).exit_code, kBySignal9);
  EXPECT_EQ(job.started.size(), 1U);
}

TEST(Restart, never_repeats_a_failure_that_saved_nothing) {
  const GroupEnd same{.exit_code = 1, .cause = "rank 1, update 12: signal 9"};
  Supervised job{.planned = {{same, 10}, {same, 10}}};
  EXPECT_EQ(job.run(100).exit_code, 1);
  EXPECT_EQ(job.started.size(), 2U);
  Supervised unknown{.planned = {{{.exit_code = 1}, -1}, {{.exit_code = 1}, -1}}};
  EXPECT_EQ(unknown.run(100).exit_code, 1);
  Supervised moving{.planned = {{same, 10}, {same, 20}, {same, 20}}};
  EXPECT_EQ(moving.run(100).exit_code, 1);
  EXPECT_EQ(moving.started.size(), 3U);
}

TEST(Restart, keeps_a_worker_beside_the_servers_of_the_hosts_that_are_left) {
  const Supervised::Planned lost{{.exit_code = 1, .cause = "a"}, 2};
  Supervised job{.planned = {lost, {}}, .lost = {"b"}};
  EXPECT_EQ(job.run(1, {{"a", 2}, {"b", 2}}, 2).exit_code, kSuccess);
  EXPECT_THAT(job.started, ElementsAre("4 on a:2,b:2 train --servers 2 -v", "2 on a:2 train -v --servers 1 --resume"));
  Supervised enough{.planned = {lost, {}}, .lost = {"b"}};
  EXPECT_EQ(enough.run(1, {{"a", 3}, {"b", 1}}, 2).exit_code, kSuccess);
  EXPECT_THAT(enough.started,
              ElementsAre("4 on a:3,b:1 train --servers 2 -v", "3 on a:3 train --servers 2 -v --resume"));
  Supervised alone{.planned = {lost}, .lost = {"b"}};
  EXPECT_EQ(alone.run(1, {{"a", 1}, {"b", 1}}, 1).exit_code, 1);
  EXPECT_EQ(alone.started.size(), 1U);
}

TEST(Restart, leaves_out_hosts_that_do_not_answer) {
  Supervised job{.planned = {{{.exit_code = 1, .cause = "a"}, 2}, {}}, .lost = {"b"}};
  EXPECT_EQ(job.run(1, {{"a", 2}, {"b", 2}, {"c", 1}}).exit_code, kSuccess);
  EXPECT_THAT(job.started, ElementsAre("5 on a:2,b:2,c:1 train", "3 on a:2,c:1 train --resume"));
  Supervised spare{.planned = {{{.exit_code = 1, .cause = "a"}, 2}, {}}, .lost = {"b"}};
  EXPECT_EQ(spare.run(1, {{"a", 2}, {"b", 2}}, 0, 3).exit_code, kSuccess);
  EXPECT_THAT(spare.started, ElementsAre("3 on a:2,b:2 train", "2 on a:2 train --resume"));
  Supervised whole{.planned = {{{.exit_code = 1, .cause = "a"}, 2}, {}}, .lost = {"a"}};
  EXPECT_EQ(whole.run(1, {{"a", 2}, {"b", 2}, {"c", 2}}, 0, 4).exit_code, kSuccess);
  EXPECT_THAT(whole.started, ElementsAre("4 on a:2,b:2,c:2 train", "4 on b:2,c:2 train --resume"));
  Supervised alone{.planned = {{{.exit_code = 1, .cause = "a"}, 2}}, .lost = {"a", "b"}};
  EXPECT_EQ(alone.run(1, {{"a", 2}, {"b", 2}}).exit_code, 1);
}

}  // namespace
}  // namespace roentgen::cli
