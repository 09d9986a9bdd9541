// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Which links are slow; tests/CMakeLists.txt runs the command on several ranks.
#include "bench/links.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"

namespace roentgen::bench {
namespace {

// Two ranks a host: fast within hosts, slower between them.
std::vector<Link> links_of(int ranks) {
  std::vector<Link> links;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      if (from == to) continue;
      const bool is_within = from / 2 == to / 2;
      links.push_back({from, to, is_within, is_within ? 1.0 : 30.0, is_within ? 8.0 : 1.0});
    }
  }
  return links;
}

Link& between(std::vector<Link>& links, int from, int to) {
  return *std::ranges::find_if(links, [&](const Link& link) { return link.from == from && link.to == to; });
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
  between(links, 3, 2).us = 2.1;
  between(links, 0, 1).gb_per_s = 4.0;  // just not
  const std::vector<Link> slow = slow_links(links, 2.0);
  ASSERT_EQ(slow.size(), 2U);
  EXPECT_EQ(slow[0].from, 1);
  EXPECT_EQ(slow[0].to, 2);
  EXPECT_EQ(slow[1].from, 3);
  EXPECT_EQ(slow_links(links, 3.0).size(), 0U);
}

TEST(Links, finds_the_rank_whose_links_are_all_slow) {
  std::vector<Link> links = links_of(6);
  for (Link& link : links) {
    if (!link.is_within_host && (link.from == 5 || link.to == 5)) link.gb_per_s = 0.1;
  }
  between(links, 0, 2).gb_per_s = 0.3;
  std::vector<Link> slow = slow_links(links, 2.0);
  EXPECT_EQ(slow.size(), 9U);
  EXPECT_EQ(slow_ranks(links, slow), (std::vector<int>{5}));
  between(links, 5, 0).gb_per_s = 1.0;
  EXPECT_TRUE(slow_ranks(links, slow_links(links, 2.0)).empty()) << "one of them is not";
}

TEST(Links, of_one_rank_are_none) {
  const auto group = dist::make_communicator("single");
  const Value result = run_links(*group, {.message_bytes = 8, .rounds = 1});
  EXPECT_EQ(result.at("kind").as_string(), "measured");
  EXPECT_TRUE(result.at("links").as_array().empty());
  EXPECT_EQ(result.at("slow").as_integer(), 0);
  EXPECT_EQ(result.find("within_host"), nullptr);
}

TEST(Links, refuses_options_out_of_range) {
  const auto group = dist::make_communicator("single");
  EXPECT_THROW(static_cast<void>(run_links(*group, {.message_bytes = 0})), ConfigError);
  EXPECT_THROW(static_cast<void>(run_links(*group, {.rounds = 0})), ConfigError);
  EXPECT_THROW(static_cast<void>(run_links(*group, {.slow_factor = 1.0})), ConfigError);
}

}  // namespace
}  // namespace roentgen::bench
