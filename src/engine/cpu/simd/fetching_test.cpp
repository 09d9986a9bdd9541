// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What fetching does to caches cannot be seen from here: how much of it is due can.
#include "engine/cpu/simd/fetching.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "engine/cpu/simd/winograd.h"

namespace roentgen::engine::cpu::simd {
namespace {

TEST(Fetching, is_done_with_all_lines_when_the_work_is_and_not_before) {
  const std::vector<std::byte> memory(64 * kLine_bytes);
  const std::array<CacheLines, 4> ranges{CacheLines{memory.data(), 5}, CacheLines{},
                                         CacheLines{memory.data() + 640, 1, true}, CacheLines{memory.data() + 1280, 7}};
  for (const std::int64_t units : {1, 4, 13, 130}) {
    SCOPED_TRACE(units);
    Fetching fetching(ranges, units);
    for (std::int64_t done = 1; done <= units; ++done) {
      fetching.step(1);
      EXPECT_EQ(fetching.lines_fetched(), 13 * done / units) << done;
    }
    fetching.step(units);
    EXPECT_EQ(fetching.lines_fetched(), 13) << "there are no more";
  }
}

TEST(Fetching, of_nothing_does_nothing) {
  Fetching none, empty(std::span<const CacheLines>(), 10);
  for (Fetching* each : {&none, &empty}) {
    each->step(100);
    EXPECT_EQ(each->lines_fetched(), 0);
  }
}

TEST(Fetching, goes_on_with_less_work_than_was_announced) {
  const std::vector<std::byte> memory(64 * kLine_bytes);
  const std::array<CacheLines, 1> ranges{CacheLines{memory.data(), 10}};
  Fetching fetching(ranges, 0);
  fetching.step(1);
  EXPECT_EQ(fetching.lines_fetched(), 10);
}

// Products tell of all their work, and of no more, a few lines' worth at a time: many would be waited for.
TEST(Fetching, is_told_of_all_work_by_products_a_little_at_a_time) {
  constexpr std::int64_t kTiles = 100, kInBlocks = 3, kGroup = 2, kBlock = 16;
  const std::vector<float> values(kInBlocks * kTiles * kBlock), weights(kInBlocks * kBlock * kGroup * kBlock);
  std::vector<float> results(kGroup * kTiles * kBlock), sums(weights.size());
  const std::vector<std::byte> memory(1000 * kLine_bytes);
  const std::array<CacheLines, 1> ranges{CacheLines{memory.data(), 1000}};
  Fetching of_product(ranges, kTiles * kInBlocks), of_gradient(ranges, kTiles * kInBlocks * kBlock);
  winograd_product({.values = values.data(),
                    .weights = weights.data(),
                    .result = results.data(),
                    .row_stride = kTiles * kBlock,
                    .tiles = kTiles,
                    .in_blocks = kInBlocks,
                    .group = kGroup,
                    .block = kBlock,
                    .fetching = &of_product});
  EXPECT_EQ(of_product.lines_fetched(), 1000);
  winograd_gradient_product({.values = values.data(),
                             .gradients = results.data(),
                             .weights = sums.data(),
                             .row_stride = kTiles * kBlock,
                             .tiles = kTiles,
                             .in_blocks = kInBlocks,
                             .group = kGroup,
                             .block = kBlock,
                             .fetching = &of_gradient});
  EXPECT_EQ(of_gradient.lines_fetched(), 1000);
}

}  // namespace
}  // namespace roentgen::engine::cpu::simd
