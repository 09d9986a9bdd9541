// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/slowest_rank.h"

#include <gtest/gtest.h>

#include <array>

namespace roentgen::train {
namespace {

TEST(SlowestRank, works_longer_than_the_mean_by_its_imbalance) {
  const SlowestRank slowest = slowest_of(std::array{1.0F, 1.0F, 4.0F});
  EXPECT_EQ(slowest.rank, 2);
  EXPECT_DOUBLE_EQ(slowest.imbalance, 1.0) << "4 s, and a mean of 2 s";
}

TEST(SlowestRank, is_the_first_of_equal_ranks_with_no_imbalance) {
  const SlowestRank slowest = slowest_of(std::array{2.0F, 2.0F});
  EXPECT_EQ(slowest.rank, 0);
  EXPECT_EQ(slowest.imbalance, 0.0);
}

TEST(SlowestRank, is_unknown_before_a_rank_has_worked) {
  EXPECT_EQ(slowest_of(std::array{0.0F, 0.0F}).rank, -1);
  EXPECT_EQ(slowest_of(std::array{0.0F, 0.0F}).imbalance, 0.0);
}

TEST(SlowestRank, is_unknown_where_there_is_only_one) { EXPECT_EQ(slowest_of(std::array{2.0F}).rank, -1); }

}  // namespace
}  // namespace roentgen::train
