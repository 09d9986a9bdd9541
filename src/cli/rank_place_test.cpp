// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/rank_place.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "runtime/machine_testing.h"

namespace roentgen::cli {
namespace {

TEST(RankPlace, goes_to_other_ranks_whole) {
  const RankPlace place{.cores = {0, 1, 2, 9},
                        .communication = {3},
                        .input = {2, 9},
                        .physical = {0, 2},
                        .quota_cores = 2.5,
                        .threads = 2,
                        .sockets = 3,
                        .card = "cuda:1 NVIDIA H200",
                        .card_bus = "0000:3B:00.0",
                        .visible_cards = {"0000:3A:00.0", "0000:3B:00.0"},
                        .is_far_from_card = true,
                        .host_units = 4,
                        .why_equal = "a reason"};
  const RankPlace read = parse_rank_place(bytes_of(place));
  EXPECT_EQ(read.cores, place.cores);
  EXPECT_EQ(read.communication, place.communication);
  EXPECT_EQ(read.input, place.input);
  EXPECT_EQ(read.physical, place.physical);
  EXPECT_EQ(read.quota_cores, 2.5);
  EXPECT_EQ(read.threads, 2);
  EXPECT_EQ(read.sockets, 3);
  EXPECT_EQ(read.card, "cuda:1 NVIDIA H200");
  EXPECT_EQ(read.card_bus, "0000:3B:00.0");
  EXPECT_EQ(read.visible_cards, place.visible_cards);
  EXPECT_TRUE(read.is_far_from_card);
  EXPECT_EQ(read.host_units, 4);
  EXPECT_EQ(read.why_equal, "a reason");
  const RankPlace shared = parse_rank_place(bytes_of({.cores = {4}, .threads = 1}));
  EXPECT_EQ(shared.cores, runtime::CoreList{4});
  EXPECT_TRUE(std::isinf(shared.quota_cores));
  EXPECT_TRUE(shared.communication.empty());
  EXPECT_TRUE(shared.input.empty());
  EXPECT_TRUE(shared.card.empty());
  EXPECT_TRUE(shared.visible_cards.empty());
  EXPECT_FALSE(shared.is_far_from_card);
  EXPECT_TRUE(shared.why_equal.empty());
}

TEST(RankPlace, two_hardware_threads_are_one_core) {
  const runtime::MadeUpMachine machine("pack:1 core:2 pu:2");
  EXPECT_EQ(first_threads({0, 1, 2, 3}), (runtime::CoreList{0, 2}));
  EXPECT_EQ(first_threads({1, 3}), (runtime::CoreList{0, 2}));
  EXPECT_EQ(first_threads({900}), (runtime::CoreList{900})) << "unknown to hwloc";
  // Two ranks on all hardware threads, and two ranks that share a core.
  EXPECT_EQ(most_threads(std::vector<RankPlace>(2, {.physical = {0, 2}})), 2);
  EXPECT_EQ(most_threads(std::vector<RankPlace>(2, {.physical = first_threads({1})})), 1);
}

TEST(RankPlace, ranks_share_a_cpu_quota) {
  const auto most = [](int ranks, double quota_cores) {
    return most_threads(std::vector<RankPlace>(static_cast<std::size_t>(ranks),
                                               {.physical = {0, 1, 2, 3, 4, 5, 6, 7}, .quota_cores = quota_cores}));
  };
  EXPECT_EQ(most(2, 4.0), 4);
  EXPECT_EQ(most(2, 2.5), 4) << "each rank rounds its part up";
  EXPECT_EQ(most(3, 1.0), 3) << "a rank has at least one thread";
  EXPECT_EQ(most(2, 100.0), 8);
}

TEST(RankPlace, tells_who_has_which) {
  EXPECT_EQ(text_of({.cores = {0, 1, 2, 3}}), "cores 0-3");
  EXPECT_EQ(text_of({.cores = {0, 1, 2, 3}, .communication = {4}}), "cores 0-3, communication 4");
  EXPECT_EQ(text_of({.cores = {0, 1, 2, 3}, .communication = {4}, .input = {3}}),
            "cores 0-2, input 3, communication 4");
  EXPECT_EQ(text_of({.cores = {0, 1}, .card = "cuda:0 NVIDIA H200"}), "cuda:0 NVIDIA H200, cores 0-1");
}

TEST(RankPlace, another_program_is_named_with_its_rank) {
  const std::vector<std::string> hosts{"a", "a", "b"};
  EXPECT_EQ(version_error(std::vector<std::string>(3, "0.1.0 (c0)"), hosts), "");
  EXPECT_EQ(version_error(std::vector<std::string>{"0.1.0 (c0)", "0.1.0 (c0)", "0.1.0 (c1)"}, hosts),
            "[cli.launch] program of rank 2 (b): expected version 0.1.0 (c0), as on rank 0 (a), got 0.1.0 (c1); try "
            "installing the same program on all hosts");
}

}  // namespace
}  // namespace roentgen::cli
