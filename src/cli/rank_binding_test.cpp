// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/rank_binding.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "runtime/machine_testing.h"
#include "runtime/pci_machine_testing.h"

namespace roentgen::cli {
namespace {

const dist::LaunchedRank kFirst{.rank = 0, .size = 2, .local_rank = 0, .local_size = 2};

TEST(RankPlaces, count_the_sockets_of_a_ranks_cores) {
  const runtime::CoreList cores = runtime::usable_cores();
  const int last = cores.back();
  const runtime::MadeUpMachine machine(fmt::format("pack:{} [numa] core:1 pu:1", last + 1));
  EXPECT_EQ(own_place({}, kFirst, {}, {}).sockets, static_cast<int>(cores.size())) << "each core is a socket";
  const runtime::BoundToCores bound({last});
  EXPECT_EQ(own_place({}, kFirst, {}, {}).sockets, 1);
}

TEST(RankPlaces, tell_that_a_bound_rank_has_no_core_near_its_card) {
  const runtime::PciMachine machine;
  const int core = runtime::usable_cores().front();
  if (core > 7) GTEST_SKIP() << "NOT TESTED: needs one of cores 0 to 7";
  const runtime::BoundToCores bound({core});
  AskedDevice asked{.device = {.engine = "cuda"}};
  asked.cards.devices = {{.name = "NVIDIA H200", .compute_capability = 90, .bus = "0000:80:00.0"}};
  EXPECT_TRUE(own_place({}, kFirst, asked, {}).is_far_from_card);
  asked.cards.devices[0].bus = "0000:10:00.0";
  EXPECT_FALSE(own_place({}, kFirst, asked, {}).is_far_from_card);
}

TEST(RankPlaces, contain_what_the_binding_found) {
  const RankPlace place = own_place({}, kFirst, {}, {.communication = {1}, .host_units = 4, .why_equal = "a reason"});
  EXPECT_EQ(place.communication, runtime::CoreList{1});
  EXPECT_EQ(place.host_units, 4);
  EXPECT_EQ(place.why_equal, "a reason");
  EXPECT_THROW(static_cast<void>(own_place({}, kFirst, {}, {.problem = "a problem"})), ConfigError);
}

}  // namespace
}  // namespace roentgen::cli
