// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests how many lines are prefetched. The effect on caches is not tested.
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

// Products must report all of their work, once. If twice as much work is announced, half of the lines are due.
TEST(Fetching, is_told_of_all_work_by_products_and_of_no_more) {
  constexpr std::int64_t kTiles = 100, kInBlocks = 3, kGroup = 2;
  for (const int block : {8, 16}) {
    SCOPED_TRACE(block);
    const std::vector<float> values(static_cast<std::size_t>(kInBlocks * kTiles * block));
    const std::vector<float> weights(static_cast<std::size_t>(kInBlocks * block * kGroup * block));
    std::vector<float> results(static_cast<std::size_t>(kGroup * kTiles * block)), sums(weights.size());
    const std::vector<std::byte> memory(1000 * kLine_bytes);
    const std::array<CacheLines, 1> ranges{CacheLines{memory.data(), 1000}};
    Fetching of_product(ranges, 2 * kTiles * kInBlocks), of_gradient(ranges, 2 * kTiles * kInBlocks * block);
    winograd_product({.values = values.data(),
                      .weights = weights.data(),
                      .result = results.data(),
                      .row_stride = kTiles * block,
                      .tiles = kTiles,
                      .in_blocks = kInBlocks,
                      .group = kGroup,
                      .block = block,
                      .fetching = &of_product});
    EXPECT_EQ(of_product.lines_fetched(), 500);
    winograd_gradient_product({.values = values.data(),
                               .gradients = results.data(),
                               .weights = sums.data(),
                               .row_stride = kTiles * block,
                               .tiles = kTiles,
                               .in_blocks = kInBlocks,
                               .group = kGroup,
                               .block = block,
                               .fetching = &of_gradient});
    EXPECT_EQ(of_gradient.lines_fetched(), 500);
  }
}

}  // namespace
}  // namespace roentgen::engine::cpu::simd
