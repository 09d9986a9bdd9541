// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the assignment of cores on simulated machines.
#include "runtime/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace roentgen::runtime {
namespace {

// Machine whose cores have one hardware thread each, numbered from 0.
std::vector<CoreList> machine(int cores) {
  std::vector<CoreList> all;
  for (int core = 0; core < cores; ++core) all.push_back({core});
  return all;
}

// Machine whose cores have two hardware threads each, numbered as in Linux: 0 and 32, 1 and 33, ...
std::vector<CoreList> with_siblings(int cores) {
  std::vector<CoreList> all;
  for (int core = 0; core < cores; ++core) all.push_back({core, core + cores});
  return all;
}

constexpr PlaceNeeds kAll{.has_communication = true, .has_input = true};

TEST(Place, few_cores_are_shared) {
  for (const int cores : {1, 2, 4, 15}) {
    const Placement placed = place(machine(cores), kAll);
    EXPECT_EQ(std::ssize(placed.compute), cores);
    EXPECT_TRUE(placed.communication.empty()) << cores;
    EXPECT_TRUE(placed.input.empty()) << cores;
  }
}

TEST(Place, communication_gets_a_core_of_two_where_it_must) {
  constexpr PlaceNeeds kMust{.has_communication = true, .must_reserve = true};
  EXPECT_TRUE(place(machine(1), kMust).communication.empty());
  EXPECT_EQ(place(machine(2), kMust).communication, CoreList{1});
  EXPECT_EQ(place(machine(2), kMust).compute, CoreList{0});
  EXPECT_EQ(place(with_siblings(4), kMust).communication, (CoreList{3, 7}));
  PlaceNeeds four = kMust;
  four.threads = 4;
  EXPECT_EQ(place(machine(4), four).communication, CoreList{3}) << "fewer compute threads than were asked for";
}

TEST(Place, communication_has_a_core_of_sixteen) {
  const Placement placed = place(machine(16), kAll);
  EXPECT_EQ(placed.communication, CoreList{15});
  EXPECT_TRUE(placed.input.empty());
  EXPECT_EQ(placed.compute.size(), 15U);
  EXPECT_TRUE(place(machine(16), {.has_input = true}).communication.empty()) << "there is none";
}

TEST(Place, input_has_a_core_in_twenty) {
  EXPECT_TRUE(place(machine(20), kAll).input.empty()) << "19 are left";
  const Placement placed = place(machine(24), kAll);
  EXPECT_EQ(placed.communication, CoreList{23});
  EXPECT_EQ(placed.input, CoreList{22});
  EXPECT_EQ(placed.compute.size(), 22U);
  EXPECT_EQ(place(machine(64), kAll).input, (CoreList{60, 61, 62}));
  EXPECT_EQ(place(machine(20), {.has_input = true}).input, CoreList{19}) << "alone";
}

TEST(Place, hardware_threads_of_a_core_stay_together) {
  const Placement placed = place(with_siblings(32), kAll);
  EXPECT_EQ(placed.communication, (CoreList{31, 63}));
  EXPECT_EQ(placed.input, (CoreList{30, 62}));
  EXPECT_EQ(placed.compute.size(), 60U);
  EXPECT_TRUE(std::ranges::is_sorted(placed.compute));
}

TEST(Place, compute_threads_that_were_asked_for_leave_the_rest) {
  PlaceNeeds needs = kAll;
  needs.threads = 12;
  Placement placed = place(machine(16), needs);
  EXPECT_EQ(placed.communication, CoreList{15});
  EXPECT_EQ(placed.input, (CoreList{12, 13, 14}));
  EXPECT_EQ(placed.compute.size(), 12U);
  needs.threads = 15;
  placed = place(machine(16), needs);
  EXPECT_EQ(placed.communication, CoreList{15});
  EXPECT_TRUE(placed.input.empty()) << "none is left";
  for (const int threads : {16, 32}) {
    needs.threads = threads;
    EXPECT_EQ(place(machine(16), needs).compute.size(), 16U) << "all were asked for";
  }
  needs.threads = 1;
  EXPECT_EQ(place(machine(2), needs).compute.size(), 2U) << "too few to part";
  EXPECT_EQ(place(machine(4), needs).input, (CoreList{1, 2}));
}

TEST(Place, communication_first_and_input_later_is_the_same) {
  for (int cores = 1; cores <= 80; ++cores) {
    const Placement both = place(machine(cores), kAll);
    const Placement first = place(machine(cores), {.has_communication = true});
    const Placement second = place(machine(static_cast<int>(first.compute.size())), {.has_input = true});
    EXPECT_EQ(first.communication, both.communication);
    EXPECT_EQ(second.input, both.input);
    EXPECT_EQ(second.compute, both.compute);
    std::set<int> known;
    for (const CoreList* list : {&both.compute, &both.communication, &both.input}) {
      known.insert(list->begin(), list->end());
    }
    EXPECT_EQ(std::ssize(known), cores) << "each has one use";
    EXPECT_GE(10 * both.compute.size(), 9 * known.size()) << "nine of ten compute";
  }
}

TEST(Place, nothing_is_known_of_no_cores) {
  const Placement placed = place({}, kAll);
  EXPECT_TRUE(placed.compute.empty() && placed.communication.empty() && placed.input.empty());
}

TEST(AreOwn, cores_that_all_processes_of_a_host_can_have) {
  const int all = machine_cores();
  ASSERT_GE(all, 1);
  EXPECT_TRUE(are_own(machine(all), 1));
  EXPECT_FALSE(are_own(machine(all), 2)) << "both have all: none is bound";
  EXPECT_FALSE(are_own(machine(all), 0)) << "nobody told how many there are";
  EXPECT_TRUE(are_own(machine(1), all));
}

}  // namespace
}  // namespace roentgen::runtime
