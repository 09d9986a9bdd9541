// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that LocalGroup, the group of threads that other tests use, gives the same results as MPI.
#include "dist/local_group_testing.h"

#include <gtest/gtest.h>

#include <thread>

#include "dist/collectives_testing.h"

namespace roentgen::dist {
namespace {

constexpr std::chrono::milliseconds kLong{60'000};

TEST(LocalGroup, reduces_scatters_gathers_and_exchanges) {
  for (int size = 1; size <= 4; ++size) {
    LocalGroup group(size);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&group, rank] {
        const auto member = group.member(rank);
        expect_refuses_bad_arguments(*member);
        expect_reduces(*member, kLong);
        expect_scatters_and_gathers(*member, kLong);
        expect_exchanges(*member, kLong);
      });
    }
  }
}

TEST(LocalGroup, has_collectives_of_a_part_alone_once_it_is_divided) {
  constexpr int kSize = 5, kLast = 2;
  LocalGroup group(kSize);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < kSize; ++rank) {
    threads.emplace_back([&group, rank] {
      const auto member = group.member(rank);
      expect_divides(*member, kLast, kLong);
    });
  }
}

TEST(LocalGroup, names_who_is_missing_at_a_root) {
  LocalGroup group(2);
  const auto member = group.member(0);
  std::array<float, 1> data{};
  try {
    member->reduce_sum(data, 0, {"sum at a root"}).wait(std::chrono::milliseconds{0});
    FAIL() << "nobody came";
  } catch (const CommError& error) {
    EXPECT_NE(std::string(error.what()).find("sum at a root: expected all 2 ranks within 0 ms, got no sign of rank 1"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace roentgen::dist
