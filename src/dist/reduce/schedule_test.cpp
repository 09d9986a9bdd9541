// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that the schedules of all ranks match each other, for every algorithm of reduce_list.h.
#include "dist/reduce/schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dist/reduce/reduce_list.h"

namespace roentgen::dist {
namespace {

struct Way {
  std::string name;
  Schedule (*make)(const Topology&);
};

std::vector<Way> ways() {
  std::vector<Way> all;
#define RG_TEST_WAY(name) all.push_back({#name, make_##name##_schedule});
  RG_REDUCE_LIST(RG_TEST_WAY)
#undef RG_TEST_WAY
  return all;
}

// Distributions of ranks over hosts: one host; one host per rank; two ranks per host; and hosts of several sizes whose
// ranks are not consecutive.
std::vector<std::vector<int>> host_maps(int size) {
  std::vector<std::vector<int>> maps(4);
  for (int rank = 0; rank < size; ++rank) {
    maps[0].push_back(0);
    maps[1].push_back(rank);
    maps[2].push_back(rank / 2);
    maps[3].push_back(rank % 3 == 0 ? 7 : rank % 2);
  }
  return maps;
}

// Properties of a message by which sent and received messages are compared.
using Line = std::tuple<Carry, std::int64_t, std::int64_t, bool>;
// (sender, receiver)
using Route = std::pair<int, int>;

TEST(Schedule, what_is_sent_is_received_as_the_same_in_the_same_order) {
  for (const Way& way : ways()) {
    for (int size = 1; size <= 17; ++size) {
      for (const auto& hosts : host_maps(size)) {
        std::map<Route, std::vector<Line>> sent, received;
        for (int rank = 0; rank < size; ++rank) {
          for (const Round& round : way.make({.rank = rank, .size = size, .hosts = hosts}).rounds) {
            std::set<Route> routes;
            for (const Message& each : round.sends) {
              EXPECT_TRUE(routes.insert({rank, each.peer}).second) << "a route is used twice in a round";
              sent[{rank, each.peer}].emplace_back(round.carry, each.share.index, each.share.count, round.is_exact);
            }
            for (const Message& each : round.receives) {
              EXPECT_TRUE(routes.insert({each.peer, rank}).second) << "a route is used twice in a round";
              received[{each.peer, rank}].emplace_back(round.carry, each.share.index, each.share.count, round.is_exact);
            }
          }
        }
        EXPECT_EQ(sent, received) << way.name << " of " << size;
        EXPECT_EQ(sent.empty(), size == 1) << way.name;
      }
    }
  }
}

TEST(Schedule, a_tree_of_6_adds_as_caffe_does) {
  std::map<int, std::vector<int>> added;
  for (int rank = 0; rank < 6; ++rank) {
    for (const Round& round : make_tree_schedule({.rank = rank, .size = 6, .hosts = {}}).rounds) {
      if (round.carry != Carry::Parts) continue;
      for (const Message& each : round.receives) added[rank].push_back(each.peer);
    }
  }
  EXPECT_EQ(added, (std::map<int, std::vector<int>>{{0, {1, 2, 4}}, {2, {3}}, {4, {5}}}));
}

TEST(Schedule, an_exchange_gives_every_rank_a_share) {
  const Schedule schedule = make_exchange_schedule({.rank = 1, .size = 3, .hosts = {}});
  ASSERT_EQ(schedule.rounds.size(), 2U);
  const Round& parts = schedule.rounds[0];
  EXPECT_TRUE(parts.is_mean);
  EXPECT_EQ(parts.own_at, 1);
  EXPECT_EQ(parts.receives[1].share.index, 1);
  EXPECT_EQ(parts.sends[1].peer, 2);
  EXPECT_EQ(parts.sends[1].share.index, 2);
  EXPECT_EQ(parts.sends[1].share.count, 3);
  EXPECT_EQ(schedule.rounds[1].sends[0].share.index, 1);
}

TEST(Schedule, a_ring_has_one_stream_each_way_and_brings_every_share_home_last) {
  for (int size = 2; size <= 9; ++size) {
    for (int rank = 0; rank < size; ++rank) {
      const Schedule schedule = make_ring_schedule({.rank = rank, .size = size, .hosts = {}});
      ASSERT_EQ(std::ssize(schedule.rounds), 2 * (size - 1));
      for (const Round& round : schedule.rounds) {
        ASSERT_EQ(round.sends.size(), 1U);
        ASSERT_EQ(round.receives.size(), 1U);
        EXPECT_EQ(round.sends[0].peer, (rank + 1) % size);
        EXPECT_EQ(round.receives[0].peer, (rank + size - 1) % size);
      }
      const Round& home = schedule.rounds[static_cast<std::size_t>(size) - 2];
      EXPECT_TRUE(home.is_mean);
      EXPECT_EQ(home.receives[0].share.index, rank);
      EXPECT_EQ(schedule.rounds[static_cast<std::size_t>(size) - 1].sends[0].share.index, rank);
    }
  }
}

TEST(Schedule, allreduce_is_the_communicators_own_and_else_an_exchange) {
  const Schedule schedule = make_allreduce_schedule({.rank = 0, .size = 2, .hosts = {}});
  EXPECT_TRUE(schedule.is_communicators_own);
  EXPECT_EQ(schedule.rounds.size(), 2U);
}

TEST(Schedule, hierarchical_has_one_rank_a_host_talk_to_the_others_and_is_exact_within_it) {
  for (int size = 2; size <= 17; ++size) {
    for (const auto& hosts : host_maps(size)) {
      std::map<int, std::set<int>> talkers;
      for (int rank = 0; rank < size; ++rank) {
        const int host = hosts[static_cast<std::size_t>(rank)];
        for (const Round& round : make_hierarchical_schedule({.rank = rank, .size = size, .hosts = hosts}).rounds) {
          for (const Message& each : round.sends) {
            const bool is_within = hosts[static_cast<std::size_t>(each.peer)] == host;
            EXPECT_EQ(round.is_exact, is_within);
            if (!is_within) talkers[host].insert(rank);
          }
        }
      }
      for (const auto& [host, ranks] : talkers) EXPECT_EQ(ranks.size(), 1U) << size << ", host " << host;
    }
  }
}

}  // namespace
}  // namespace roentgen::dist
