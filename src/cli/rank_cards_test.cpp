// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/rank_cards.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/error.h"

namespace roentgen::cli {
namespace {

const engine::DeviceChoice kCpu{.engine = "cpu"};
const engine::DeviceChoice kCuda{.engine = "cuda"};

/// Returns an inventory of cards with these compute capabilities, at bus addresses that no test machine has.
runtime::CudaInventory cards(const std::vector<int>& capabilities) {
  runtime::CudaInventory inventory{.devices = {}, .why_none = capabilities.empty() ? "no NVIDIA driver" : ""};
  for (const int capability : capabilities) {
    inventory.devices.push_back({.index = static_cast<int>(inventory.devices.size()),
                                 .name = "NVIDIA H200",
                                 .compute_capability = capability,
                                 .bus = "FFFF:FF:1F.0"});
  }
  return inventory;
}

TEST(RankCards, ranks_are_a_number_or_auto) {
  EXPECT_EQ(parse_ranks("4"), 4);
  EXPECT_EQ(parse_ranks("0"), 0);
  EXPECT_EQ(parse_ranks("auto"), std::nullopt);
  for (const char* const text : {"", "-1", "two", "2x", "65537"}) {
    EXPECT_THROW(static_cast<void>(parse_ranks(text)), ConfigError) << text;
  }
}

TEST(RankCards, auto_starts_one_rank_for_each_usable_card) {
  EXPECT_EQ(automatic_ranks(kCuda, cards({90, 90, 90, 90})), 4);
  EXPECT_EQ(automatic_ranks(kCuda, cards({90, 75, 80})), 2) << "one is too old";
  EXPECT_EQ(automatic_ranks({.engine = "cuda", .index = 1}, cards({90, 90})), 1);
  EXPECT_EQ(automatic_ranks(kCpu, cards({90, 90})), 1);
}

TEST(RankCards, auto_counts_the_instances_of_a_partitioned_card) {
  const std::vector<std::string> instances = card_instances("MIG-1f,MIG-2a,MIG-3c");
  EXPECT_EQ(instances, (std::vector<std::string>{"MIG-1f", "MIG-2a", "MIG-3c"}));
  EXPECT_EQ(automatic_ranks(kCuda, cards({90}), instances), 3) << "CUDA shows a process one of them";
  EXPECT_EQ(automatic_ranks(kCpu, {}, instances), 1);
  for (const char* const other : {"0,1", "GPU-1f", "", "MIG-1f,0"}) EXPECT_TRUE(card_instances(other).empty()) << other;
  EXPECT_TRUE(card_instances(nullptr).empty());
}

TEST(RankCards, each_rank_of_a_host_sees_one_instance) {
  const auto seen = [](const char* visible, int local_rank) {
    ::setenv(kVisibleCards, visible, 1);
    see_own_instance(local_rank);
    const std::string value = std::getenv(kVisibleCards);
    ::unsetenv(kVisibleCards);
    return value;
  };
  EXPECT_EQ(seen("MIG-1f,MIG-2a", 0), "MIG-1f");
  EXPECT_EQ(seen("MIG-1f,MIG-2a", 1), "MIG-2a");
  EXPECT_EQ(seen("MIG-1f,MIG-2a", 2), "MIG-1f") << "more ranks than instances";
  for (const char* const other : {"MIG-1f", "0,1", ""}) EXPECT_EQ(seen(other, 1), other);
}

TEST(RankCards, auto_without_a_usable_card_says_why) {
  for (const auto& [inventory, reason] :
       {std::pair{cards({}), "no NVIDIA driver"}, {cards({75}), "compute capability 8.0 or later"}}) {
    try {
      static_cast<void>(automatic_ranks(kCuda, inventory));
      FAIL() << "ranks without a card";
    } catch (const DeviceError& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  }
}

TEST(RankCards, ranks_on_cards_of_unknown_place_share_the_cores_in_order) {
  const runtime::CoreList cores = runtime::usable_cores();
  const dist::LaunchedRank second{.rank = 1, .size = 2, .local_rank = 1, .local_size = 2};
  const runtime::CoreList plain = runtime::shares_of(cores, 2).at(1);
  EXPECT_EQ(own_share(cores, second, kCuda, cards({90, 90})), plain);
  EXPECT_EQ(own_share(cores, second, kCpu, {}), plain);
  EXPECT_EQ(own_share(cores, second, kCuda, cards({})), plain);
}

TEST(RankCards, the_map_names_a_ranks_card) {
  EXPECT_EQ(card_text({.engine = "cuda", .index = 1}, cards({90, 90})), "cuda:1 NVIDIA H200");
  EXPECT_EQ(card_text(kCuda, cards({90})), "cuda:0 NVIDIA H200");
  EXPECT_EQ(card_text(kCpu, cards({90})), "");
  EXPECT_EQ(card_text(kCuda, cards({})), "");
}

}  // namespace
}  // namespace roentgen::cli
