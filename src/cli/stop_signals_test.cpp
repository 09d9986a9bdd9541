// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/stop_signals.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace roentgen::cli {
namespace {

// Installs the handlers and raises `signal`. Exits with code 1 if it requested a stop, else with 0. Runs in a child
// process.
[[noreturn]] void listen_and_raise(int signal) {
  listen_for_stop();
  std::raise(signal);
  std::raise(signal);
  std::_Exit(is_stop_asked() ? 1 : 0);
}

TEST(StopSignals, a_hang_up_asks_for_a_stop_however_often_it_comes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(listen_and_raise(SIGHUP), testing::ExitedWithCode(1), "");
  EXPECT_EXIT(listen_and_raise(SIGUSR1), testing::ExitedWithCode(1), "");
  EXPECT_EXIT(listen_and_raise(SIGTERM), testing::KilledBySignal(SIGTERM), "") << "a second one ends it at once";
}

TEST(StopSignals, nohup_keeps_the_hang_up_away) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        listen_and_raise(SIGHUP);
      },
      testing::ExitedWithCode(0), "");
}

TEST(StopSignals, a_reader_of_the_progress_that_has_gone_ends_nothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ignore_closed_pipes();
        listen_and_raise(SIGPIPE);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace roentgen::cli
