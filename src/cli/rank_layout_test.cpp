// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/rank_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/rank_cards.h"
#include "core/error.h"
#include "runtime/machine_testing.h"

namespace roentgen::cli {
namespace {

using runtime::CoreList;
using testing::HasSubstr;
using testing::ThrowsMessage;

const CoreList kAll{0, 1, 2, 3, 4, 5, 6, 7};

dist::LaunchedRank local(int rank, int size) {
  return {.rank = rank, .size = size, .local_rank = rank, .local_size = size};
}

TEST(RankLayout, is_read_from_the_options) {
  EXPECT_FALSE(parse_layout({}).is_asked());
  EXPECT_EQ(parse_layout({.per_node = "3"}).number, 3);
  EXPECT_EQ(parse_layout({.per_node = "socket"}).unit, runtime::CoreUnit::Socket);
  EXPECT_EQ(parse_layout({.per_node = "numa"}).unit, runtime::CoreUnit::NumaNode);
  EXPECT_EQ(parse_layout({.comm_threads = "0"}).reserves_core, false);
  EXPECT_EQ(parse_layout({.comm_threads = "1"}).reserves_core, true);
  EXPECT_EQ(parse_layout({.comm_cores = "7,3"}).communication, (CoreList{3, 7}));
  for (const LayoutArguments& given : {LayoutArguments{.comm_threads = "0"}, LayoutArguments{.comm_cores = "900"}}) {
    EXPECT_TRUE(parse_layout(given).is_asked());
    EXPECT_FALSE(parse_layout(given).has_ranks_per_node());
  }
}

TEST(RankLayout, of_other_words_is_refused) {
  for (const char* const text : {"0", "-1", "sockets", "2x", "4097"}) {
    EXPECT_THROW(static_cast<void>(parse_layout({.per_node = text})), ConfigError) << text;
  }
  EXPECT_THAT(
      [] { static_cast<void>(parse_layout({.comm_threads = "2"})); },
      ThrowsMessage<ConfigError>(HasSubstr("--comm-threads: expected 0 or 1, since one thread makes all calls")));
  EXPECT_THROW(static_cast<void>(parse_layout({.comm_threads = "auto"})), ConfigError);
  EXPECT_THROW(static_cast<void>(parse_layout({.comm_threads = "0", .comm_cores = "1"})), ConfigError);
  EXPECT_THROW(static_cast<void>(parse_layout({.comm_cores = "all"})), ConfigError);
}

TEST(RankLayout, counts_the_units_of_the_machine) {
  const runtime::MadeUpMachine machine("pack:2 numa:2 core:2 pu:1");
  EXPECT_EQ(ranks_per_node(parse_layout({.per_node = "socket"}), kAll), 2);
  EXPECT_EQ(ranks_per_node(parse_layout({.per_node = "numa"}), kAll), 4);
  EXPECT_EQ(ranks_per_node(parse_layout({.per_node = "numa"}), {0, 1, 2}), 2) << "the process may use no other";
  EXPECT_EQ(ranks_per_node(parse_layout({.per_node = "5"}), kAll), 5);
  EXPECT_EQ(with_slots({{"a", 1}, {"b", 7}}, 2), (HostList{{"a", 2}, {"b", 2}}));
}

TEST(RankLayout, ranks_stay_on_a_socket_each) {
  const runtime::MadeUpMachine machine("pack:2 [numa] core:4 pu:1");
  const CoreList uneven{1, 2, 3, 4, 5, 6, 7};
  const engine::DeviceChoice cpu{.engine = "cpu"};
  EXPECT_EQ(own_share(uneven, local(0, 2), cpu, {}, runtime::CoreUnit::Socket).cores, (CoreList{1, 2, 3}));
  EXPECT_EQ(own_share(uneven, local(1, 2), cpu, {}, runtime::CoreUnit::Socket).cores, (CoreList{4, 5, 6, 7}));
}

TEST(ReservedCores, go_to_the_ranks_of_a_host_in_order) {
  const runtime::MadeUpMachine machine("pack:2 [numa] core:4 pu:1");
  const RankLayout layout = parse_layout({.comm_cores = "3,7"});
  for (int rank = 0; rank < 2; ++rank) {
    const RankCores cores = reserve_cores(layout, kAll, local(rank, 2), true);
    EXPECT_EQ(cores.rest, (CoreList{0, 1, 2, 4, 5, 6})) << "for both ranks";
    EXPECT_EQ(cores.communication, CoreList{rank == 0 ? 3 : 7});
    EXPECT_EQ(cores.problem, "");
  }
  EXPECT_EQ(reserve_cores(layout, kAll, local(2, 4), true).communication, (CoreList{3})) << "two ranks share a core";
  EXPECT_EQ(reserve_cores({}, kAll, local(0, 2), true).rest, kAll);
}

TEST(ReservedCores, of_a_rank_that_a_launcher_bound_are_among_its_own) {
  const RankLayout layout = parse_layout({.comm_cores = "3,7"});
  const RankCores second = reserve_cores(layout, {4, 5, 6, 7}, local(1, 2), false);
  EXPECT_EQ(second.rest, (CoreList{4, 5, 6}));
  EXPECT_EQ(second.communication, CoreList{7});
  EXPECT_THAT(reserve_cores(layout, {0, 1}, local(0, 2), false).problem,
              HasSubstr("--comm-cores: expected some of the cores 0-1 of rank 0, but not all, got 3,7"));
}

TEST(ReservedCores, that_are_not_there_or_leave_none_are_a_problem) {
  for (const char* const text : {"8", "0-8", "0-7"}) {
    const RankCores cores = reserve_cores(parse_layout({.comm_cores = text}), kAll, local(0, 2), true);
    EXPECT_THAT(cores.problem, HasSubstr("of this host")) << text;
    EXPECT_EQ(cores.rest, kAll);
  }
}

}  // namespace
}  // namespace roentgen::cli
