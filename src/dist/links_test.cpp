// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests how slow links are found and named, and how ranks are paired.
#include "dist/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dist/local_group_testing.h"

namespace roentgen::dist {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Makes links between ranks on hosts with `per_host` ranks each: fast inside hosts, slower between them.
std::vector<Link> links_of(int ranks, int per_host = 2) {
  std::vector<Link> links;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      if (from == to) continue;
      const bool is_within = from / per_host == to / per_host;
      links.push_back({from, to, is_within, is_within ? 1.0 : 30.0, is_within ? 8.0 : 1.0});
    }
  }
  return links;
}

std::vector<std::string> hosts_of(int ranks, int per_host) {
  std::vector<std::string> hosts;
  for (int rank = 0; rank < ranks; ++rank) hosts.push_back("node" + std::to_string(rank / per_host));
  return hosts;
}

Link& between(std::vector<Link>& links, int from, int to) {
  return *std::ranges::find_if(links, [&](const Link& link) { return link.from == from && link.to == to; });
}

// Reduces the bandwidth of all links of rank `of` to `gb_per_s`.
void throttle(std::vector<Link>& links, int of, double gb_per_s) {
  for (Link& link : links) {
    if (!link.is_within_host && (link.from == of || link.to == of)) link.gb_per_s = gb_per_s;
  }
}

TEST(Links, kinds_are_never_compared) {
  const std::vector<Link> links = links_of(4);
  EXPECT_EQ(usual_link(links, true).gb_per_s, 8.0);
  EXPECT_EQ(usual_link(links, false).us, 30.0);
  EXPECT_TRUE(slow_links(links, 1.01).empty());
}

TEST(Links, finds_the_slow_direction_and_the_late_answer) {
  std::vector<Link> links = links_of(4);
  between(links, 1, 2).gb_per_s = 0.49;
  between(links, 3, 0).us = 61.0;
  between(links, 0, 1).gb_per_s = 4.0;  // just fast enough
  const std::vector<Link> slow = slow_links(links, 2.0);
  ASSERT_EQ(slow.size(), 2U);
  EXPECT_EQ(slow[0].from, 1);
  EXPECT_EQ(slow[0].to, 2);
  EXPECT_EQ(slow[1].from, 3);
  EXPECT_EQ(slow_links(links, 3.0).size(), 0U);
  EXPECT_THAT(slow_names(hosts_of(4, 2), links, slow), ElementsAre("node0 to node1", "node1 to node0"));
  const std::vector<std::string> texts = slow_texts("a.room", hosts_of(4, 2), links, slow);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_THAT(
      texts[0],
      HasSubstr("[a.room] rank 1 (node0) to rank 2 (node1): expected about 30 us and 1e+03 MB/s, as is usual for "
                "links between hosts, got 30 us and 490 MB/s"));
}

TEST(Links, finds_the_rank_whose_links_are_all_slow) {
  std::vector<Link> links = links_of(6);
  throttle(links, 5, 0.1);
  between(links, 0, 2).gb_per_s = 0.3;
  std::vector<Link> slow = slow_links(links, 2.0);
  EXPECT_EQ(slow.size(), 9U);
  EXPECT_EQ(slow_ranks(links, slow), (std::vector<int>{5}));
  EXPECT_THAT(slow_names(hosts_of(6, 2), links, slow), ElementsAre("node2", "node0 to node1"));
  EXPECT_THAT(
      slow_texts("a.room", hosts_of(6, 2), links, slow)[0],
      HasSubstr(
          "rank 5 (node2): expected network links as fast as those of other ranks, 30 us and 1e+03 MB/s, got only "
          "slow links, 100 MB/s at best"));
  between(links, 5, 0).gb_per_s = 1.0;
  EXPECT_TRUE(slow_ranks(links, slow_links(links, 2.0)).empty()) << "one of them is not";
}

// The slow port makes two thirds of all links slow.
TEST(Links, finds_the_slow_port_among_three_hosts) {
  std::vector<Link> links = links_of(3, 1);
  for (Link& link : links) link.us = 0.0;  // latency not measured
  throttle(links, 1, 0.2);
  const std::vector<Link> slow = slow_links(links, 2.0);
  EXPECT_EQ(slow.size(), 4U);
  EXPECT_EQ(usual_link(links, false).gb_per_s, 1.0);
  EXPECT_EQ(usual_link(links, true).gb_per_s, 0.0) << "there are none";
  EXPECT_THAT(slow_names(hosts_of(3, 1), links, slow), ElementsAre("node1"));
  EXPECT_THAT(slow_texts("a.room", hosts_of(3, 1), links, slow)[0],
              HasSubstr("other ranks, 1e+03 MB/s, got only slow links"));
}

TEST(Links, of_two_hosts_are_compared_with_each_other) {
  std::vector<Link> links = links_of(2, 1);
  throttle(links, 1, 0.1);
  EXPECT_TRUE(slow_links(links, 2.0).empty()) << "nothing says what is usual";
  between(links, 0, 1).gb_per_s = 1.0;
  EXPECT_THAT(slow_names(hosts_of(2, 1), links, slow_links(links, 2.0)), ElementsAre("node1 to node0"));
}

TEST(Links, every_host_meets_every_other_once) {
  for (int count = 2; count <= 9; ++count) {
    const PairRounds rounds = host_pairs(hosts_of(2 * count, 2));
    std::set<std::pair<int, int>> met;
    for (const std::vector<RankPair>& pairs : rounds) {
      std::set<int> busy;
      for (const auto& [low, high] : pairs) {
        EXPECT_LT(low, high);
        EXPECT_EQ(low % 2, 0) << "the first rank of its host";
        EXPECT_EQ(high % 2, 0);
        EXPECT_TRUE(busy.insert(low).second && busy.insert(high).second) << "in two pairs of a round";
        EXPECT_TRUE(met.insert({low, high}).second) << "twice";
      }
    }
    EXPECT_EQ(std::ssize(met), count * (count - 1) / 2);
    EXPECT_EQ(std::ssize(rounds), count % 2 == 0 ? count - 1 : count);
  }
  EXPECT_TRUE(host_pairs(hosts_of(4, 4)).empty()) << "one host";
  EXPECT_EQ(all_pairs(4).size(), 6U);
}

TEST(Links, all_ranks_have_the_same_measurement) {
  constexpr int kRanks = 3;
  LocalGroup group(kRanks);
  std::array<std::vector<Link>, kRanks> links;
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] {
        const auto member = group.member(rank);
        links[static_cast<std::size_t>(rank)] =
            measure_links(*member, {{{.low = 0, .high = 1}}, {{.low = 1, .high = 2}}},
                          {.message_bytes = 1000, .round_trips = 2, .rounds = 2, .takes_median = false});
      });
    }
  }
  ASSERT_EQ(links[0].size(), 4U) << "the third pair was left out";
  for (const std::vector<Link>& own : links) {
    ASSERT_EQ(own.size(), links[0].size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(own[i].from, links[0][i].from);
      EXPECT_EQ(own[i].to, links[0][i].to);
      EXPECT_EQ(own[i].gb_per_s, links[0][i].gb_per_s);
      EXPECT_GT(own[i].gb_per_s, 0.0);
      EXPECT_GT(own[i].us, 0.0);
      EXPECT_TRUE(own[i].is_within_host);
    }
  }
}

}  // namespace
}  // namespace roentgen::dist
