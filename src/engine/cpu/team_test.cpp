// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace roentgen::engine::cpu {
namespace {

TEST(SubTeams, share_out_members_and_items) {
  for (const int threads : {1, 2, 3, 5, 8}) {
    for (const int wanted : {1, 2, 3, 4, 9}) {
      SCOPED_TRACE(testing::Message() << threads << " threads, " << wanted << " sub-teams");
      constexpr std::int64_t kItems = 7, kShares = 11;
      std::vector<std::atomic<int>> first(kItems), second(kItems * kShares);
      std::atomic<int> team = 0, early = 0;
#pragma omp parallel num_threads(threads)
      {
        team = omp_get_num_threads();
        const SubTeam crew = SubTeam::of(wanted);
        EXPECT_LT(crew.rank(), crew.size());
        EXPECT_LT(crew.index(), std::min(wanted, omp_get_num_threads()));
        std::int64_t last = -1;
        crew.for_items(
            kItems,
            [&](std::int64_t item) {
              last = item;
              crew.for_share(kShares, [&](std::int64_t) { ++first[static_cast<std::size_t>(item)]; });
            },
            [&](std::int64_t item) {
              // Nobody is in the second phase before all are through with the first.
              if (first[static_cast<std::size_t>(item)] != kShares) ++early;
              crew.for_share(kShares, [&](std::int64_t i) { ++second[static_cast<std::size_t>(item * kShares + i)]; });
            });
        EXPECT_TRUE(last < 0 || crew.is_last(kItems, last));
      }
      EXPECT_EQ(team, threads);
      EXPECT_EQ(early, 0);
      EXPECT_TRUE(std::ranges::all_of(second, [](const auto& times) { return times == 1; }));
    }
  }
}

TEST(SubTeams, of_one_size_divide_the_threads) {
  EXPECT_EQ(even_crews(16, 10), 8);
  EXPECT_EQ(even_crews(7, 10), 7);
  EXPECT_EQ(even_crews(7, 6), 1);
  EXPECT_EQ(even_crews(2, 0), 1);
  EXPECT_EQ(even_crews(1, 64), 1);
}

}  // namespace
}  // namespace roentgen::engine::cpu
