// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/servers/staleness.h"

#include <gtest/gtest.h>

namespace roentgen::train {
namespace {

TEST(LateRate, is_whole_where_workers_are_equally_fast) {
  for (const double staleness : {0.0, 1.0, 3.0}) EXPECT_EQ(late_rate(staleness, 4), 1.0) << staleness;
  EXPECT_EQ(late_rate(0.0, 1), 1.0);
}

TEST(LateRate, falls_with_the_versions_beyond) {
  EXPECT_DOUBLE_EQ(late_rate(4.0, 4), 0.8);
  EXPECT_DOUBLE_EQ(late_rate(15.0, 4), 0.25);
}

}  // namespace
}  // namespace roentgen::train
