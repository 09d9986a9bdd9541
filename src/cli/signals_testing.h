// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests: handlers of signals that a test may change.
#pragma once

#include <array>
#include <csignal>
#include <cstddef>

namespace roentgen::cli {

/// Restores at its end the handlers of the signals that HeldSignals (held_signals.h) handles. One thread.
class KeptHandlers {
 public:
  KeptHandlers() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], nullptr, &before_[i]);
  }
  ~KeptHandlers() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  KeptHandlers(const KeptHandlers&) = delete;
  KeptHandlers& operator=(const KeptHandlers&) = delete;

 private:
  static constexpr std::array<int, 5> kSignals{SIGINT, SIGTERM, SIGUSR1, SIGQUIT, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace roentgen::cli
