// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/clock_offset.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <thread>

#include "core/timeline.h"
#include "dist/local_group_testing.h"

namespace roentgen::dist {
namespace {

constexpr std::chrono::milliseconds kLimit{60'000};

TEST(ClockOffset, is_what_ranks_clocks_are_apart_within_the_stated_error) {
  constexpr std::array<std::int64_t, 4> kAhead_ns{0, 5'000'000'000, 77, -3'000'000'000};
  constexpr std::array<int, 3> kRanks{0, 1, 3};  // rank 2 does not take part
  LocalGroup group(static_cast<int>(kAhead_ns.size()));
  std::vector<ClockOffset> offsets;
  {
    std::vector<std::jthread> threads;
    for (const int rank : kRanks) {
      threads.emplace_back([&, rank] {
        const auto member = group.member(rank);
        const auto now = [&] { return Timeline::now_ns() + kAhead_ns.at(static_cast<std::size_t>(rank)); };
        std::vector<ClockOffset> measured = measure_clock_offsets(*member, kRanks, now, kLimit);
        if (rank == 0) {
          offsets = measured;
        } else {
          EXPECT_TRUE(measured.empty());
        }
      });
    }
  }
  ASSERT_EQ(offsets.size(), kRanks.size());
  EXPECT_EQ(offsets[0].offset_ns, 0);
  EXPECT_EQ(offsets[0].error_ns, 0);
  for (std::size_t i = 1; i < kRanks.size(); ++i) {
    const std::int64_t ahead = kAhead_ns.at(static_cast<std::size_t>(kRanks.at(i)));
    EXPECT_LE(std::abs(offsets[i].offset_ns - ahead), offsets[i].error_ns) << "rank " << kRanks.at(i);
  }
}

}  // namespace
}  // namespace roentgen::dist
