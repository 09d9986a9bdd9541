// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/watchdog.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace roentgen::cli {
namespace {

TEST(WatchdogDeathTest, ends_a_process_that_takes_too_long) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const Watchdog watch(std::chrono::milliseconds(1), "too long");
        while (true) ::pause();
      },
      testing::ExitedWithCode(1), "^too long");
}

TEST(Watchdog, work_in_time_goes_on) { const Watchdog watch(std::chrono::hours(1), "too long"); }

TEST(Watchdog, texts_name_rank_phase_and_limit) {
  const RankLimit limit{.rank = 1, .ranks = 4, .limit = std::chrono::milliseconds(1500)};
  EXPECT_EQ(start_limit_text(limit),
            "[cli.launch] rank 1, start-up: expected all 4 ranks (processes) to start within 1.5 s, got a start that "
            "has not finished; try finding the rank that is stopped, or a larger --comm-timeout");
  EXPECT_EQ(end_limit_text(limit),
            "[cli.launch] rank 1, end: expected all 4 ranks (processes) to end within 1.5 s, got an end that has not "
            "finished; try finding the rank that is stopped; this run is complete");
}

}  // namespace
}  // namespace roentgen::cli
