// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/rank_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roentgen::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kHosts{"n1", "n1", "n2"};
const RankLayout kBySocket{.unit = runtime::CoreUnit::Socket};

TEST(SocketWarning, names_ranks_whose_cores_cross_sockets) {
  std::vector<RankPlace> places(3);
  for (RankPlace& place : places) place.cores = {2, 3, 4};
  EXPECT_EQ(socket_warning({places, kHosts}, {}), "");
  places[1].sockets = 2;
  EXPECT_THAT(socket_warning({places, kHosts}, {}), HasSubstr(": rank 1 on n1 (cores 2-4, 2 sockets); --ppn socket"));
  EXPECT_THAT(socket_warning({places, kHosts}, {.number = 2}), HasSubstr("; --ppn socket"));
  const std::vector<RankPlace> six(6, places[1]);
  EXPECT_THAT(socket_warning({six, std::vector<std::string>(6, "n1")}, {}),
              HasSubstr("rank 3 on n1 (cores 2-4, 2 sockets) and 2 more"));
}

TEST(SocketWarning, does_not_advise_what_was_given) {
  const std::vector<RankPlace> places(3, {.cores = {2, 3}, .sockets = 2});
  EXPECT_THAT(socket_warning({places, kHosts}, kBySocket), HasSubstr("rank 2 on n2 (cores 2-3, 2 sockets)"));
  EXPECT_THAT(socket_warning({places, kHosts}, kBySocket), Not(HasSubstr("--ppn")));
}

TEST(UnitWarning, names_hosts_with_other_sockets_than_the_starting_one) {
  std::vector<RankPlace> places(3, {.host_units = 2});
  EXPECT_EQ(unit_warning({places, kHosts}, kBySocket),
            "--ppn socket: n2 has 2 sockets but 1 rank; --hosts a:2,b:4 without --ppn sets the number of ranks of each "
            "host");
  places[2].host_units = 1;
  EXPECT_EQ(unit_warning({places, kHosts}, kBySocket), "");
  places[0].host_units = places[1].host_units = 1;
  EXPECT_THAT(unit_warning({places, kHosts}, {.unit = runtime::CoreUnit::NumaNode}),
              HasSubstr("--ppn numa: n1 has 1 NUMA node but 2 ranks;"));
  EXPECT_EQ(unit_warning({places, kHosts}, {.number = 2}), "") << "ranks are not counted by sockets";
}

TEST(IdleCardWarning, names_hosts_with_cards_that_no_rank_uses) {
  const std::vector<std::string> four{"b0", "b1", "b2", "b3"};
  std::vector<RankPlace> places{{.card_bus = "b0", .visible_cards = four},
                                {.card_bus = "b1", .visible_cards = four},
                                {.card_bus = "b0", .visible_cards = {"b0"}}};
  EXPECT_EQ(idle_card_warning({places, kHosts}),
            "only 2 of 4 GPUs of n1 are used; --ranks auto, or more processes of mpirun or srun, use a rank per GPU");
  places[2].visible_cards = four;
  EXPECT_THAT(idle_card_warning({places, kHosts}), HasSubstr("only 2 of 4 GPUs of n1, 1 of 4 GPUs of n2 are used"));
}

TEST(IdleCardWarning, counts_cards_and_not_what_each_rank_sees) {
  // With srun --gpus-per-task=1, each rank sees another card.
  EXPECT_EQ(idle_card_warning({std::vector<RankPlace>{{.card_bus = "b0", .visible_cards = {"b0"}},
                                                      {.card_bus = "b1", .visible_cards = {"b1"}},
                                                      {.card_bus = "b0", .visible_cards = {"b0"}}},
                               kHosts}),
            "");
  // With srun --gpus-per-task=2, each rank sees two other cards and uses one of them.
  EXPECT_THAT(idle_card_warning({std::vector<RankPlace>{{.card_bus = "b0", .visible_cards = {"b0", "b1"}},
                                                        {.card_bus = "b3", .visible_cards = {"b2", "b3"}},
                                                        {.card_bus = "b0", .visible_cards = {"b0"}}},
                                 kHosts}),
              HasSubstr("only 2 of 4 GPUs of n1 are used"));
  // Ranks of n1 share a card.
  EXPECT_THAT(idle_card_warning({std::vector<RankPlace>(3, {.card_bus = "b0", .visible_cards = {"b0", "b1"}}), kHosts}),
              HasSubstr("only 1 of 2 GPUs of n1, 1 of 2 GPUs of n2 are used"));
}

TEST(IdleCardWarning, is_not_about_cards_that_the_user_chose) {
  EXPECT_EQ(idle_card_warning({std::vector<RankPlace>(3, {.card_bus = "b1"}), kHosts}), "");
  EXPECT_EQ(idle_card_warning({std::vector<RankPlace>(3), kHosts}), "") << "CPU";
}

TEST(FarCardWarning, names_ranks_without_a_core_near_their_card) {
  std::vector<RankPlace> places(3, {.cores = {0, 1}, .card = "cuda:1 NVIDIA H200"});
  EXPECT_EQ(far_card_warning({places, kHosts}), "");
  places[1].is_far_from_card = true;
  EXPECT_EQ(far_card_warning({places, kHosts}),
            "no core near the GPU, so copies are slower: rank 1 on n1 (cuda:1 NVIDIA H200, cores 0-1); --ranks "
            "auto binds ranks near their GPUs; otherwise use srun --cpu-bind or mpirun --map-by");
}

TEST(EqualCoresNote, gives_the_reason_of_each_host_once) {
  std::vector<RankPlace> places(3);
  EXPECT_EQ(equal_cores_note({places, kHosts}), "");
  places[0].why_equal = places[1].why_equal = "one reason";
  EXPECT_EQ(equal_cores_note({places, kHosts}), "cores are divided equally, not by GPU: n1 (one reason)");
  places[2].why_equal = "another";
  EXPECT_EQ(equal_cores_note({places, kHosts}), "cores are divided equally, not by GPU: n1 (one reason), n2 (another)");
}

}  // namespace
}  // namespace roentgen::cli
