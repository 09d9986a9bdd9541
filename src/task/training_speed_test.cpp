// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/training_speed.h"

#include <gtest/gtest.h>

#include <vector>

namespace roentgen::task {
namespace {

TEST(MedianUpdate, is_not_moved_by_a_pause) {
  std::vector<double> seconds(47, 0.5);
  seconds[20] = 100.0;
  EXPECT_DOUBLE_EQ(median_update_s(seconds), 0.5);
}

TEST(MedianUpdate, counts_the_waiting_for_batches_that_come_several_at_a_time) {
  std::vector<double> seconds;
  for (int i = 0; i < 36; ++i) seconds.push_back(i % 4 == 0 ? 3.0 : 1.0);
  EXPECT_DOUBLE_EQ(median_update_s(seconds), 1.5);
}

TEST(MedianUpdate, takes_as_few_as_there_are) {
  EXPECT_DOUBLE_EQ(median_update_s(std::vector{2.0}), 2.0);
  EXPECT_DOUBLE_EQ(median_update_s(std::vector{2.0, 4.0}), 3.0);
  EXPECT_DOUBLE_EQ(median_update_s(std::vector{9.0, 1.0, 2.0}), 2.0);
}

}  // namespace
}  // namespace roentgen::task
