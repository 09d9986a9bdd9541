// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/rank_cards.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/error.h"
#include "runtime/pci_machine_testing.h"

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

dist::LaunchedRank local(int rank, int size) {
  return {.rank = rank, .size = size, .local_rank = rank, .local_size = size};
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
  const runtime::CoreList plain = runtime::shares_of(cores, 2).at(1);
  const CoreShare share = own_share(cores, local(1, 2), kCuda, cards({90, 90}));
  EXPECT_EQ(share.cores, plain);
  EXPECT_EQ(share.why_equal, "no core near a GPU, or its place is unknown");
  for (const engine::DeviceChoice& device : {kCpu, kCuda}) {
    const CoreShare other = own_share(cores, local(1, 2), device, cards({}));
    EXPECT_EQ(other.cores, plain);
    EXPECT_EQ(other.why_equal, "") << "there is no card";
  }
}

/// Returns an inventory of cards at these buses of a PciMachine.
runtime::CudaInventory cards_at(const std::vector<std::string>& buses) {
  runtime::CudaInventory inventory = cards(std::vector(buses.size(), 90));
  for (std::size_t i = 0; i < buses.size(); ++i) inventory.devices[i].bus = "0000:" + buses[i] + ":00.0";
  return inventory;
}

const runtime::CoreList kFirst{0, 1, 2, 3, 4, 5, 6, 7};
const runtime::CoreList kSecond{8, 9, 10, 11, 12, 13, 14, 15};
const runtime::CoreList kAll{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

TEST(RankCards, ranks_get_the_cores_near_their_own_card) {
  const runtime::PciMachine machine;
  const runtime::CudaInventory two = cards_at({"80", "10"});
  EXPECT_EQ(own_share(kAll, local(0, 2), kCuda, two).cores, kSecond);
  EXPECT_EQ(own_share(kAll, local(1, 2), kCuda, two).cores, kFirst);
  EXPECT_EQ(own_share(kAll, local(0, 2), kCuda, two).why_equal, "");
  EXPECT_EQ(own_share(kAll, local(0, 2), kCpu, two).cores, kFirst);
  EXPECT_EQ(own_share(kAll, local(0, 2), {.engine = "cuda", .index = 0}, two).cores, kFirst) << "all use one card";
  runtime::CudaInventory old = cards_at({"10", "80"});
  old.devices[0].compute_capability = 75;
  EXPECT_EQ(own_share(kAll, local(0, 1), kCuda, old).cores, kSecond) << "no rank uses the old card";
}

TEST(RankCards, ranks_on_cards_of_overlapping_places_get_different_cores) {
  const runtime::PciMachine machine;
  const runtime::CudaInventory two = cards_at({"f0", "10"});
  EXPECT_EQ(own_share(kAll, local(0, 2), kCuda, two).cores, kSecond);
  EXPECT_EQ(own_share(kAll, local(1, 2), kCuda, two).cores, kFirst);
  EXPECT_EQ(own_share(kAll, local(1, 2), kCuda, two).why_equal, "the same cores are near GPUs at different places");
}

/// Returns the place of the second of two ranks on these cores.
RankPlace second_place(const engine::DeviceChoice& device, const runtime::CudaInventory& inventory,
                       const runtime::CoreList& cores = kAll) {
  RankPlace place{.cores = cores};
  set_card(device, local(1, 2), inventory, place);
  return place;
}

TEST(RankCards, the_place_of_a_rank_has_its_card_and_those_that_it_could_use) {
  const RankPlace chosen = second_place({.engine = "cuda", .index = 1}, cards_at({"10", "20"}));
  EXPECT_EQ(chosen.card, "cuda:1 NVIDIA H200");
  EXPECT_EQ(chosen.card_bus, "0000:20:00.0");
  EXPECT_TRUE(chosen.visible_cards.empty()) << "the user chose";
  runtime::CudaInventory three = cards_at({"10", "20", "80"});
  three.devices[1].compute_capability = 75;
  const RankPlace any = second_place(kCuda, three);
  EXPECT_EQ(any.card_bus, "0000:80:00.0");
  EXPECT_EQ(any.visible_cards, (std::vector<std::string>{"0000:10:00.0", "0000:80:00.0"}));
  EXPECT_EQ(second_place(kCuda, cards({90})).card, "cuda:0 NVIDIA H200");
  EXPECT_EQ(second_place(kCpu, cards({90})).card, "");
  EXPECT_EQ(second_place(kCuda, cards({})).card, "");
  EXPECT_TRUE(second_place(kCpu, cards({90})).visible_cards.empty());
}

TEST(RankCards, a_rank_is_far_from_a_card_of_the_other_socket) {
  const runtime::PciMachine machine;
  EXPECT_TRUE(second_place(kCuda, cards_at({"10", "80"}), kFirst).is_far_from_card);
  EXPECT_FALSE(second_place(kCuda, cards_at({"80", "10"}), kFirst).is_far_from_card);
  EXPECT_TRUE(second_place({.engine = "cuda", .index = 0}, cards_at({"80"}), kFirst).is_far_from_card);
  EXPECT_FALSE(second_place(kCuda, cards({90, 90}), kFirst).is_far_from_card) << "its place is unknown";
  EXPECT_FALSE(second_place(kCpu, cards_at({"80"}), kFirst).is_far_from_card);
}

}  // namespace
}  // namespace roentgen::cli
