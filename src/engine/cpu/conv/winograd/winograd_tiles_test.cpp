// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the tiles, chunks, lanes and groups of result blocks of Winograd's convolutions.
#include "engine/cpu/conv/winograd/winograd_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "engine/cpu/conv/winograd/winograd_pass.h"

namespace roentgen::engine::cpu {
namespace {
constexpr simd::WinogradWindow kRow7{{1}, {7}}, kColumn7{{7}, {1}}, kSquare5{{5}, {5}};

// Expects that sub-teams with the same number of neighbouring chunks have the same number of tiles, as far as units
// allow.
void expect_even_chunks(const WinogradShape& shape, std::int64_t size) {
  const Tiling tiling(shape, size, size);
  const std::int64_t per_image = tiling.count() / shape.images;
  // A unit is a whole image if there are tiles of 3, which do not need the last position. Otherwise it is a row of
  // products.
  const TileRange last = tiling.needing(shape.window.positions() - 1, per_image);
  const std::int64_t unit = last.end - last.begin < per_image ? per_image : 12;
  std::int64_t next = 0, first_half = 0, least = tiling.count(), largest = 0;
  for (std::int64_t i = 0; i < tiling.chunks(); ++i) {
    const TileRange chunk = tiling.chunk(i);
    ASSERT_EQ(chunk.begin, next);
    ASSERT_GT(chunk.end, chunk.begin);
    EXPECT_EQ(chunk.begin % unit, 0);
    largest = std::max(largest, chunk.end - chunk.begin);
    if (i + 1 < tiling.chunks()) least = std::min(least, chunk.end - chunk.begin);
    next = chunk.end;
    if (2 * (i + 1) == tiling.chunks()) first_half = next;
  }
  EXPECT_EQ(next, tiling.count());
  EXPECT_LE(largest, tiling.most());
  EXPECT_GT(largest + unit, tiling.most()) << "no more room than is needed";
  EXPECT_LE(largest - least, unit);
  if (tiling.chunks() % 2 == 0) {
    EXPECT_LE(std::abs(2 * first_half - next), 2 * unit);
  }
}
TEST(WinogradTiling, chunks_hold_every_tile_once_and_halves_of_them_as_many) {
  for (const std::int64_t size : {4, 7, 14, 28, 56, 61, 112}) {
    for (const std::int64_t blocks : {1, 4, 8, 16}) {
      for (const std::int64_t images : {1, 3, 5, 16}) {
        for (const simd::WinogradWindow& window : {simd::WinogradWindow{}, kSquare5, kRow7, kColumn7}) {
          SCOPED_TRACE(testing::Message() << size << " pixels, " << blocks << " blocks, " << images << " images, "
                                          << window.down.taps << "x" << window.across.taps);
          expect_even_chunks({.window = window, .images = images, .in_blocks = blocks, .out_blocks = 2 * blocks}, size);
        }
      }
    }
  }
}
// Uses the shape of the case with this name in winograd_test.cpp.
TEST(WinogradTiling, has_uneven_chunks_across_images) {
  const Tiling tiling({.images = 11, .in_blocks = 1, .out_blocks = 2}, 28, 28);
  EXPECT_EQ(tiling.chunks(), 4);
  EXPECT_EQ(tiling.lanes(), 4);
  EXPECT_NE(tiling.chunk(0).end % 49, 0);
  EXPECT_LT(tiling.chunk(3).end - tiling.chunk(3).begin, tiling.most());
}

// 17 = 4 + 4 + 3 + 3 + 3: two of five tiles in a row of results need the last of ten positions.
TEST(WinogradTiling, lines_have_narrow_tiles_along_one_axis_alone) {
  for (const bool is_row : {true, false}) {
    const Tiling tiling({.window = is_row ? kRow7 : kColumn7, .images = 2, .in_blocks = 8, .out_blocks = 8}, 17, 17);
    EXPECT_EQ(tiling.count(), 2 * 17 * 5);
    const TileRange all = tiling.needing(8, 17 * 5), last = tiling.needing(9, 17 * 5);
    EXPECT_EQ(all.end - all.begin, 17 * 5);
    EXPECT_EQ(last.end - last.begin, 17 * 2);
    std::vector<int> covered(17 * 17);
    for (std::int64_t i = 0; i < 17 * 5; ++i) {
      const Tile tile = tiling.tile(0, 17 * 5, i);
      for (std::int64_t r = 0; r < tile.rows * tile.columns; ++r) {
        const std::int64_t at = (tile.row + r / tile.columns) * 17 + tile.column + r % tile.columns;
        ++covered[static_cast<std::size_t>(at)];
      }
    }
    EXPECT_EQ(std::ranges::count(covered, 1), 17 * 17);
  }
}

// The first and the last shape are also cases of winograd_test.cpp, which compares both methods with sums in double.
TEST(WinogradTiling, has_lanes_where_tiles_outweigh_the_weights) {
  const auto lanes_of = [](const WinogradShape& s) { return Tiling(s, s.out_height, s.out_width).lanes(); };
  WinogradShape shape{.images = 8, .in_blocks = 1, .out_blocks = 2, .out_height = 61, .out_width = 58};
  EXPECT_EQ(lanes_of(shape), 4);
  shape = {.images = 16, .in_blocks = 8, .out_blocks = 8, .out_height = 28, .out_width = 28};
  EXPECT_EQ(lanes_of(shape), 2);
  shape = {.images = 16, .in_blocks = 32, .out_blocks = 32, .out_height = 7, .out_width = 7};
  EXPECT_EQ(lanes_of(shape), 1);
  EXPECT_TRUE(Tiling(shape, 7, 7).is_wide());
  shape = {.images = 2, .in_blocks = 1, .out_blocks = 5, .out_height = 32, .out_width = 32};
  EXPECT_EQ(lanes_of(shape), 2);
}

// Calls f(weights, number of threads that divide groups) for many numbers of result blocks.
template <typename F>
void for_weights(const F& f) {
  for (const int threads : {1, 2, 3, 4, 5, 6, 12, 16}) {
    for (std::int64_t out = 1; out <= 40; ++out) {
      SCOPED_TRACE(testing::Message() << out << " blocks, " << threads << " threads");
      f(PositionWeights({.in_blocks = 3, .out_blocks = out}, threads), threads);
    }
  }
}
TEST(WinogradGroups, hold_every_result_block_once_in_room_of_its_own) {
  for_weights([](const PositionWeights& weights, int /*threads*/) {
    std::int64_t next = 0;
    for (int group = 0; group < weights.groups; ++group) {
      const Share blocks = weights.blocks_of(group);
      ASSERT_EQ(blocks.begin, next);
      ASSERT_GT(blocks.end, blocks.begin);
      for (std::int64_t block = blocks.begin; block < blocks.end; ++block) EXPECT_EQ(weights.group_of(block), group);
      const auto [first, row] = weights.place(group, blocks.end - 1, 2);
      const std::int64_t end = first + 15 * row + 16;
      EXPECT_EQ(end, 3 * 16 * 16 * (blocks.end - blocks.begin)) << "of the last channel of the last pair";
      EXPECT_LE(end, weights.stride - kMostWinogradBlock);
      next = blocks.end;
    }
    EXPECT_EQ(next, weights.out_blocks);
  });
}
TEST(WinogradGroups, are_few_and_of_about_one_size) {
  for_weights([](const PositionWeights& weights, int /*threads*/) {
    std::int64_t least = 4, most = 1;
    for (int group = 0; group < weights.groups; ++group) {
      const Share blocks = weights.blocks_of(group);
      least = std::min(least, blocks.end - blocks.begin);
      most = std::max(most, blocks.end - blocks.begin);
    }
    EXPECT_LE(most, 4);
    EXPECT_LE(most - least, 1);
    EXPECT_LT((weights.groups - weights.crews) * 4, weights.out_blocks + weights.crews) << "one less would not do";
  });
}
TEST(WinogradGroups, give_sub_teams_as_many_groups_and_about_as_many_blocks) {
  for_weights([](const PositionWeights& weights, int threads) {
    EXPECT_EQ(threads % weights.crews, 0);
    ASSERT_EQ(weights.groups % weights.crews, 0);
    const int each = weights.groups / weights.crews;
    std::int64_t least = weights.out_blocks, most = 0;
    for (int crew = 0; crew < weights.crews; ++crew) {
      const std::int64_t blocks = weights.blocks_of((crew + 1) * each - 1).end - weights.blocks_of(crew * each).begin;
      least = std::min(least, blocks);
      most = std::max(most, blocks);
    }
    EXPECT_LE(most - least, 1);
  });
}

}  // namespace
}  // namespace roentgen::engine::cpu
