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

namespace roentgen::cli {
namespace {

TEST(HeldSignals, wait_in_their_order_until_they_are_read) {
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
  late = 0;
  std::signal(SIGUSR1, [](int signal) { late = signal; });
  {
    const HeldSignals signals;
    std::raise(SIGUSR1);
    EXPECT_EQ(late, 0);
  }
  EXPECT_EQ(late, SIGUSR1);
  std::signal(SIGUSR1, SIG_DFL);
}

}  // namespace
}  // namespace roentgen::cli
