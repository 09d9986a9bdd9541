// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/watchdog.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/command.h"
#include "core/error.h"

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

TEST(EndAfterFailure, does_nothing_if_it_is_destroyed_in_time) {
  EXPECT_TRUE(end_after(std::make_exception_ptr(CommError("lost")), std::chrono::hours(1)));
}

TEST(EndAfterFailureDeathTest, prints_the_failure_and_ends_with_its_exit_code) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto hang = [](const std::exception_ptr& failure) {
    const auto watch = end_after(failure, std::chrono::milliseconds(20));
    while (true) ::pause();
  };
  EXPECT_EXIT(hang(std::make_exception_ptr(CommError("no sign of rank 1"))), testing::ExitedWithCode(kFailure),
              "no sign of rank 1.*a device hangs 20 ms after this failure; the process ends");
  EXPECT_EXIT(hang(std::make_exception_ptr(DataError("no data"))), testing::ExitedWithCode(kBadInput), "no data");
}

}  // namespace
}  // namespace roentgen::cli
