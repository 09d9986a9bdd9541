// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/rank_place.h"

#include <gtest/gtest.h>

#include <vector>

namespace roentgen::cli {
namespace {

TEST(RankPlace, goes_to_other_ranks_whole) {
  const RankPlace place{.cores = {0, 1, 2, 9},
                        .communication = {3},
                        .input = {2, 9},
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
  EXPECT_TRUE(shared.communication.empty());
  EXPECT_TRUE(shared.input.empty());
  EXPECT_TRUE(shared.card.empty());
  EXPECT_TRUE(shared.visible_cards.empty());
  EXPECT_FALSE(shared.is_far_from_card);
  EXPECT_TRUE(shared.why_equal.empty());
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
