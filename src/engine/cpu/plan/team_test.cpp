// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/plan/team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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
              // Counts members that begin the second phase before all have finished the first.
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

// Expects that each outer phase visits every cell once, and that the middle phase runs between them.
void expect_three_phases(int threads, std::int64_t blocks, std::int64_t images, std::int64_t cell_bytes) {
  SCOPED_TRACE(testing::Message() << threads << " threads, " << blocks << " blocks, " << images << " images, "
                                  << cell_bytes << " bytes a cell");
  const auto cells = static_cast<std::size_t>(blocks * images);
  std::vector<std::atomic<int>> first(cells), second(cells), middle(static_cast<std::size_t>(blocks));
  std::atomic<int> early = 0;
  const auto at = [&](std::int64_t block, std::int64_t image) {
    return static_cast<std::size_t>(block * images + image);
  };
  three_phases(
      threads, {blocks, images, cell_bytes}, [&](std::int64_t block, std::int64_t image) { ++first[at(block, image)]; },
      [&](std::int64_t block) {
        for (std::int64_t image = 0; image < images; ++image) {
          if (first[at(block, image)] != 1) ++early;
        }
        ++middle[static_cast<std::size_t>(block)];
      },
      [&](std::int64_t block, std::int64_t image) {
        if (middle[static_cast<std::size_t>(block)] != 1) ++early;
        ++second[at(block, image)];
      });
  EXPECT_EQ(early, 0);
  for (const auto* counts : {&first, &middle, &second}) {
    EXPECT_TRUE(std::ranges::all_of(*counts, [](const auto& times) { return times == 1; }));
  }
}

TEST(ThreePhases, visit_every_cell_in_order_by_block_and_by_image) {
  constexpr std::int64_t kLarge_bytes = std::int64_t{64} << 20;
  for (const int threads : {1, 2, 3}) {
    for (const std::int64_t blocks : {1, 2, 7, 16}) {
      for (const std::int64_t cell_bytes : {std::int64_t{64}, kLarge_bytes}) {
        expect_three_phases(threads, blocks, 5, cell_bytes);
      }
    }
  }
}

TEST(PhaseGrid, one_thread_and_large_tensors_go_by_block) {
  constexpr std::int64_t kKept_bytes = std::int64_t{4} << 20;
  const PhaseGrid small{.blocks = 4, .images = 2, .cell_bytes = kKept_bytes / 4};
  EXPECT_TRUE(small.is_by_block(1)) << "nobody to share with";
  EXPECT_FALSE(small.is_by_block(2)) << "as much as two threads keep";
  const PhaseGrid large{.blocks = 4, .images = 2, .cell_bytes = kKept_bytes / 4 + 64};
  EXPECT_TRUE(large.is_by_block(2));
  EXPECT_FALSE(large.is_by_block(3)) << "as much as three threads keep";
  PhaseGrid larger{.blocks = 4, .images = 2, .cell_bytes = 2 * kKept_bytes};
  EXPECT_FALSE(larger.is_by_block(3)) << "blocks do not come out even";
  larger.blocks = 13;
  EXPECT_TRUE(larger.is_by_block(3)) << "so many that it matters little";
}

// If a tensor fits into a cache, the first thread has the first images with all their blocks.
TEST(ThreePhases, share_out_images_of_small_tensors_and_blocks_of_large_ones) {
  for (const bool is_small : {true, false}) {
    std::array<std::array<int, 4>, 4> owner{};
    std::atomic<int> team = 0;
    three_phases(
        2, {4, 4, is_small ? 64 : std::int64_t{64} << 20},
        [&](std::int64_t block, std::int64_t image) {
          team = omp_get_num_threads();
          owner[static_cast<std::size_t>(block)][static_cast<std::size_t>(image)] = omp_get_thread_num();
        },
        [](std::int64_t) {}, [](std::int64_t, std::int64_t) {});
    ASSERT_EQ(team, 2);
    for (std::size_t block = 0; block < 4; ++block) {
      for (std::size_t image = 0; image < 4; ++image) {
        EXPECT_EQ(owner[block][image], (is_small ? image : block) < 2 ? 0 : 1);
      }
    }
  }
}

}  // namespace
}  // namespace roentgen::engine::cpu
