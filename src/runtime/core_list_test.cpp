// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/core_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "core/error.h"
#include "runtime/machine_testing.h"

namespace roentgen::runtime {
namespace {

TEST(CoreList, is_written_as_ranges) {
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of({3}), "3");
  EXPECT_EQ(text_of({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

TEST(CoreList, is_read_as_it_is_written) {
  const CoreList all = usable_cores();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(parse_core_list(text_of(all)), all);
  const std::string last = std::to_string(all.back());
  EXPECT_EQ(parse_core_list(last + "," + last + "-" + last), CoreList{all.back()});
}

TEST(CoreList, of_another_form_or_of_cores_that_are_not_there_is_refused) {
  for (const char* text : {"", ",", "0-", "-1", "one", "0,,0", "1-0", "0x0", "99999999999", "0-1000000"}) {
    EXPECT_THROW(static_cast<void>(parse_core_list(text)), ConfigError) << text;
  }
}

TEST(OtherCores, are_the_rest_and_at_least_one) {
  const CoreList all = usable_cores();
  EXPECT_THROW(static_cast<void>(other_cores(all)), ConfigError);
  if (all.size() < 2) GTEST_SKIP() << "NOT TESTED: this process may use one core only";
  EXPECT_EQ(other_cores({all.front()}), CoreList(all.begin() + 1, all.end()));
}

TEST(PhysicalCores, are_at_least_one_and_at_most_the_hardware_threads) {
  const CoreList all = usable_cores();
  EXPECT_GE(physical_cores(all), 1);
  EXPECT_LE(physical_cores(all), static_cast<int>(all.size()));
  EXPECT_EQ(physical_cores({all.front()}), 1);
}

TEST(CoreNumbers, may_be_those_of_another_process) {
  EXPECT_EQ(parse_core_numbers("900-902,7"), (CoreList{7, 900, 901, 902}));
  EXPECT_THROW(static_cast<void>(parse_core_numbers("seven")), ConfigError);
}

TEST(CoreUnits, are_the_sockets_and_numa_nodes_of_the_machine) {
  const CoreList all{0, 1, 2, 3, 4, 5, 6, 7};
  {
    const MadeUpMachine machine("pack:2 numa:2 core:2 pu:1");
    EXPECT_EQ(by_unit(all, CoreUnit::Socket), (std::vector<CoreList>{{0, 1, 2, 3}, {4, 5, 6, 7}}));
    EXPECT_EQ(by_unit(all, CoreUnit::NumaNode), (std::vector<CoreList>{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
    EXPECT_EQ(by_unit({1, 2}, CoreUnit::Socket), (std::vector<CoreList>{{1, 2}}));
    EXPECT_EQ(by_unit({1, 2}, CoreUnit::NumaNode), (std::vector<CoreList>{{1}, {2}}));
    EXPECT_EQ(by_unit({3, 4, 9}, CoreUnit::Socket), (std::vector<CoreList>{{3}, {4}, {9}})) << "9 is not known";
  }
  const MadeUpMachine machine("[numa] [numa] pack:2 core:4 pu:1");
  EXPECT_EQ(by_unit(all, CoreUnit::NumaNode), (std::vector<CoreList>{all})) << "two nodes with the same cores";
}

TEST(SharesOfUnits, do_not_cross_sockets_where_the_number_of_parts_allows_it) {
  const MadeUpMachine machine("pack:2 [numa] core:4 pu:1");
  const CoreList uneven{0, 1, 2, 3, 4, 5};  // four cores of one socket and two of the other
  EXPECT_EQ(shares_of(uneven, 2), (std::vector<CoreList>{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(shares_of_units(uneven, 2, CoreUnit::Socket), (std::vector<CoreList>{{0, 1, 2, 3}, {4, 5}}));
  EXPECT_EQ(shares_of_units(uneven, 4, CoreUnit::Socket), (std::vector<CoreList>{{0, 1}, {2, 3}, {4}, {5}}));
  EXPECT_EQ(shares_of_units(uneven, 3, CoreUnit::Socket), shares_of(uneven, 3));
}

TEST(CoresWithinQuota, keep_whole_cores) {
  const MadeUpMachine machine("pack:1 core:4 pu:2");
  const CoreList all{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(cores_within_quota(all, std::nullopt, 2), all);
  EXPECT_EQ(cores_within_quota(all, 3.5, 2), (CoreList{0, 1, 2, 3}));
  EXPECT_EQ(cores_within_quota(all, 100.0, 1), all);
}

TEST(SharesOf, cover_all_cores_once_where_there_are_enough) {
  const CoreList all = usable_cores();
  EXPECT_EQ(shares_of(all, 1), std::vector<CoreList>{all});
  for (int parts = 2; parts <= std::ssize(by_physical_core(all)); ++parts) {
    std::vector<int> covered;
    for (const CoreList& share : shares_of(all, parts)) {
      EXPECT_LE(std::ssize(by_physical_core(share)) * parts, std::ssize(by_physical_core(all)) + parts - 1);
      covered.insert(covered.end(), share.begin(), share.end());
    }
    std::ranges::sort(covered);
    EXPECT_EQ(covered, all) << parts << " parts";
  }
}

TEST(SharesOf, are_one_hardware_thread_each_where_there_are_too_few) {
  const CoreList all = usable_cores();
  const int parts = static_cast<int>(all.size()) + 1;
  const std::vector<CoreList> shares = shares_of(all, parts);
  ASSERT_EQ(std::ssize(shares), parts);
  for (const CoreList& share : shares) EXPECT_EQ(share.size(), 1U);
  EXPECT_EQ(shares.front(), shares.back()) << "taken twice";
}

TEST(BoundToCores, holds_for_the_thread_and_those_it_starts_until_it_goes) {
  const CoreList all = usable_cores();
  const CoreList one{all.back()};
  CoreList started;
  {
    const BoundToCores bound(one);
    EXPECT_EQ(usable_cores(), one);
    std::jthread([&] { started = usable_cores(); }).join();
    EXPECT_EQ(parse_core_list(text_of(all)), all) << "the process may still use them";
  }
  EXPECT_EQ(started, one);
  EXPECT_EQ(usable_cores(), all);
  const BoundToCores none({});
  EXPECT_EQ(usable_cores(), all);
}

}  // namespace
}  // namespace roentgen::runtime
