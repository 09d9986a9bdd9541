// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/near_cores.h"

#include <gtest/gtest.h>

#include "runtime/machine_testing.h"
#include "runtime/pci_machine_testing.h"

namespace roentgen::runtime {
namespace {

const CoreList kFirst{0, 1, 2, 3, 4, 5, 6, 7};
const CoreList kSecond{8, 9, 10, 11, 12, 13, 14, 15};
const CoreList kAll{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/// Returns the near cores of the cards at these buses.
std::vector<CoreList> near_of(const CoreList& cores, const std::vector<std::string>& buses) {
  std::vector<CoreList> near;
  for (const std::string& bus : buses) near.push_back(near_cores(cores, "0000:" + bus + ":00.0"));
  return near;
}

class NearCores : public testing::Test {
 protected:
  const PciMachine machine_;
};

TEST_F(NearCores, of_a_card_are_those_of_its_package) {
  EXPECT_EQ(near_of(kAll, {"10", "80", "f0"}), (std::vector<CoreList>{kFirst, kSecond, kAll}));
  EXPECT_EQ(near_cores({2, 3, 14}, "0000:80:00.0"), (CoreList{14})) << "the process may use no other";
}

TEST_F(NearCores, of_an_unknown_device_are_none) {
  EXPECT_EQ(near_cores(kAll, "0000:99:00.0"), CoreList{});
  EXPECT_EQ(near_cores(kAll, ""), CoreList{});
}

TEST_F(NearCores, far_are_those_of_the_other_package) {
  EXPECT_TRUE(is_far(kFirst, "0000:80:00.0"));
  EXPECT_FALSE(is_far({7, 8}, "0000:80:00.0"));
  EXPECT_FALSE(is_far(kFirst, "0000:f0:00.0"));
  EXPECT_FALSE(is_far(kFirst, "0000:99:00.0")) << "unknown";
}

TEST(ForbiddenCores, of_a_package_do_not_move_its_card_to_the_other) {
  const PciMachine machine(0x00FF);
  EXPECT_EQ(near_cores(kFirst, "0000:80:00.0"), CoreList{});
  EXPECT_TRUE(is_far(kFirst, "0000:80:00.0"));
}

TEST_F(NearCores, ranks_on_cards_of_one_package_divide_its_cores) {
  const NearShares shares = shares_near(kAll, near_of(kAll, {"10", "80", "20"}));
  EXPECT_EQ(shares.cores, (std::vector<CoreList>{{0, 1, 2, 3}, kSecond, {4, 5, 6, 7}}));
  EXPECT_EQ(shares.why_equal, "");
}

TEST_F(NearCores, of_an_unknown_device_lead_to_equal_shares_that_are_near_the_known_one) {
  const NearShares shares = shares_near(kAll, near_of(kAll, {"99", "10"}));
  EXPECT_EQ(shares.cores, (std::vector<CoreList>{kSecond, kFirst}));
  EXPECT_EQ(shares.why_equal, "no core near a GPU, or its place is unknown");
  EXPECT_EQ(shares_near(kAll, {{}, {}, {}}).cores, shares_of(kAll, 3)) << "in order";
}

TEST_F(NearCores, that_overlap_in_part_lead_to_equal_shares_without_common_cores) {
  const NearShares shares = shares_near(kAll, near_of(kAll, {"f0", "10"}));
  EXPECT_EQ(shares.cores, (std::vector<CoreList>{kSecond, kFirst}));
  EXPECT_EQ(shares.why_equal, "the same cores are near GPUs at different places");
}

TEST_F(NearCores, that_are_few_lead_to_equal_shares) {
  const CoreList cores{7, 8, 9, 10, 11, 12, 13, 14};  // one near the first GPU, seven far from it
  const NearShares shares = shares_near(cores, near_of(cores, {"80", "10"}));
  EXPECT_EQ(shares.cores, (std::vector<CoreList>{{10, 11, 12, 13, 14}, {7, 8, 9}})) << "the near core is used";
  EXPECT_EQ(shares.why_equal, "the number of a rank's cores near its GPU would be 1 instead of 4");
  const CoreList more{6, 7, 8, 9, 10, 11, 12, 13};
  EXPECT_EQ(shares_near(more, near_of(more, {"80", "10"})).cores[1], (CoreList{6, 7})) << "half of an equal share";
}

TEST(NearShares, with_fewer_near_cores_than_ranks_give_no_core_twice) {
  const MadeUpMachine machine("pack:1 [numa] core:3 pu:1");
  EXPECT_EQ(shares_near({0, 1, 2}, {{0}, {0}}).cores, (std::vector<CoreList>{{0}, {1, 2}}));
}

TEST(NearShares, that_are_equal_keep_to_sockets) {
  const MadeUpMachine machine("pack:2 [numa] core:3 pu:1");
  const CoreList cores{0, 1, 2, 3};
  const std::vector<CoreList> unknown(2);
  EXPECT_EQ(shares_near(cores, unknown, CoreUnit::Socket).cores, (std::vector<CoreList>{{0, 1, 2}, {3}}));
  EXPECT_EQ(shares_near(cores, unknown).cores, (std::vector<CoreList>{{0, 1}, {2, 3}}));
}

}  // namespace
}  // namespace roentgen::runtime
