// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/held_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <stop_token>
#include <thread>

#include "cli/signals_testing.h"

namespace roentgen::cli {
namespace {

TEST(HeldSignals, wait_in_their_order_until_they_are_read) {
  const KeptHandlers handlers;
  const HeldSignals signals;
  EXPECT_EQ(signals.take(), 0);
  std::raise(SIGTERM);
  std::raise(SIGINT);
  pollfd look = signals.look();
  EXPECT_EQ(::poll(&look, 1, 0), 1);
  EXPECT_EQ(signals.take(), SIGTERM);
  EXPECT_EQ(signals.take(), SIGINT);
  EXPECT_EQ(signals.take(), 0);
}

TEST(HeldSignals, do_not_end_a_process_with_other_threads) {
  const KeptHandlers handlers;
  std::mutex mutex;
  std::condition_variable_any woken;
  const std::jthread other([&](const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    woken.wait(lock, stop, [] { return false; });
  });
  // The main thread blocks the signal, so that the system chooses the other thread.
  sigset_t interrupt{}, before{};
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  const HeldSignals signals;
  ::pthread_sigmask(SIG_BLOCK, &interrupt, &before);
  ::kill(::getpid(), SIGINT);
  pollfd look = signals.look();
  EXPECT_EQ(::poll(&look, 1, -1), 1);
  EXPECT_EQ(signals.take(), SIGINT);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

volatile std::sig_atomic_t late = 0;

TEST(HeldSignals, act_after_all_if_nobody_reads_them) {
  const KeptHandlers handlers;
  late = 0;
  std::signal(SIGUSR1, [](int signal) { late = signal; });
  {
    const HeldSignals signals;
    std::raise(SIGUSR1);
    EXPECT_EQ(late, 0);
  }
  EXPECT_EQ(late, SIGUSR1);
}

TEST(HeldSignals, ignore_all_signals_after_the_first_one_that_is_read) {
  const KeptHandlers handlers;
  late = 0;
  std::signal(SIGUSR1, [](int signal) { late = signal; });
  {
    const HeldSignals signals;
    std::raise(SIGUSR1);
    EXPECT_EQ(signals.take(), SIGUSR1);
    std::raise(SIGUSR1);
  }
  std::raise(SIGUSR1);
  EXPECT_EQ(late, 0);
}

}  // namespace
}  // namespace roentgen::cli
