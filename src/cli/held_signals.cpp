// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/held_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "cli/stop_signals.h"
#include "core/error.h"

namespace roentgen::cli {
namespace {

std::atomic<int> write_end{-1};  // for the handler, which gets no pointer to the object

extern "C" void note_signal(int signal) {
  const int code = errno;
  const auto byte = static_cast<unsigned char>(signal);
  static_cast<void>(!::write(write_end, &byte, 1));  // a full pipe has enough signals
  errno = code;
}

}  // namespace

HeldSignals::HeldSignals() {
  if (::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw DeviceError(
        error_text("cli.launch", "signals", "a pipe", std::strerror(errno), "ulimit -n with a larger number"));
  }
  write_end = ends_[1];
  struct sigaction noted {};
  noted.sa_handler = note_signal;
  noted.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    const bool is_ignored = kSignals[i] == SIGHUP && is_hangup_ignored();
    ::sigaction(kSignals[i], is_ignored ? nullptr : &noted, &before_[i]);
  }
}

HeldSignals::~HeldSignals() {
  if (is_taken_) {
    for (const int signal : kSignals) std::signal(signal, SIG_IGN);
  } else {
    let_go();
    while (const int signal = take()) std::raise(signal);
  }
  write_end = -1;
  for (const int end : ends_) ::close(end);
}

void HeldSignals::let_go() const {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
}

int HeldSignals::take() const {
  unsigned char signal = 0;
  if (::read(ends_[0], &signal, 1) != 1) return 0;
  is_taken_ = true;
  return signal;
}

}  // namespace roentgen::cli
