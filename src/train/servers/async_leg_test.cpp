// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/servers/async_leg.h"

#include <gtest/gtest.h>

namespace roentgen::train {
namespace {

TEST(RoundsToMeeting, end_with_the_epoch) { EXPECT_EQ(rounds_to_meeting({.step = 3, .left_in_epoch = 7}), 7); }

TEST(RoundsToMeeting, end_at_the_next_checkpoint) {
  EXPECT_EQ(rounds_to_meeting({.step = 3, .left_in_epoch = 7, .checkpoint_steps = 5}), 2);
  EXPECT_EQ(rounds_to_meeting({.step = 5, .left_in_epoch = 7, .checkpoint_steps = 5}), 5);
  EXPECT_EQ(rounds_to_meeting({.step = 5, .left_in_epoch = 2, .checkpoint_steps = 5}), 2);
}

TEST(RoundsToMeeting, end_where_the_run_is_to_stop) {
  EXPECT_EQ(rounds_to_meeting({.step = 3, .left_in_epoch = 7, .stop_after_steps = 4}), 1);
  EXPECT_EQ(rounds_to_meeting({.step = 3, .left_in_epoch = 7, .stop_after_steps = 3}), 7) << "past already";
}

}  // namespace
}  // namespace roentgen::train
