// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// HeldSignals: signals that wait until a loop reads them, so that they cannot end this process.
#pragma once

#include <poll.h>

#include <array>
#include <csignal>

namespace roentgen::cli {

/// Handles SIGINT, SIGTERM, SIGUSR1, SIGHUP and SIGQUIT while the object lives, so that take() can read them. Other
/// threads may already run: a handler serves all threads, a signal mask only one. Once take() has returned a signal,
/// the program ends because of it, and the destructor makes the process ignore all further ones. For use by one thread;
/// only one object may exist.
class HeldSignals {
 public:
  /// Throws DeviceError if no pipe can be created.
  HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  /// Restores the previous handlers and raises all signals that wait, unless take() has returned one.
  ~HeldSignals();

  /// Restores the previous handlers in a child after fork().
  void let_go() const;
  /// Returns the next signal; 0: none.
  [[nodiscard]] int take() const;
  /// Returns a descriptor that is readable when a signal waits.
  [[nodiscard]] pollfd look() const { return {.fd = ends_[0], .events = POLLIN, .revents = 0}; }

 private:
  static constexpr std::array<int, 5> kSignals{SIGINT, SIGTERM, SIGUSR1, SIGQUIT, SIGHUP};

  std::array<int, 2> ends_{-1, -1};  ///< of a pipe: the handler writes numbers of signals, take() reads them
  std::array<struct sigaction, kSignals.size()> before_{};
  mutable bool is_taken_ = false;  ///< take() has returned a signal
};

}  // namespace roentgen::cli
