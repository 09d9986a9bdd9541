// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/start_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace roentgen::cli {
namespace {

TEST(StartWatchDeathTest, ends_a_start_that_takes_too_long) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const StartWatch watch(1, 4, std::chrono::milliseconds(1));
        while (true) ::pause();
      },
      testing::ExitedWithCode(1),
      "\\[cli.launch\\] rank 1, start-up: expected all 4 ranks \\(processes\\) to start within 0.001 s, got a start "
      "that has not finished; try ");
}

TEST(StartWatch, a_start_in_time_goes_on) { const StartWatch watch(0, 2, std::chrono::hours(1)); }

}  // namespace
}  // namespace roentgen::cli
