// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/stop_signals.h"

#include <csignal>
#include <initializer_list>

namespace roentgen::cli {
namespace {

volatile std::sig_atomic_t stop_signal = 0;

extern "C" void remember_signal(int signal) {
  stop_signal = signal;
  if (signal != SIGUSR1) std::signal(signal, SIG_DFL);
}

}  // namespace

void listen_for_stop() {
  if (is_stop_asked()) return;  // a second one is still to end it
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) std::signal(signal, remember_signal);
}

bool is_stop_asked() { return stop_signal != 0; }

void ignore_stop() {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) std::signal(signal, SIG_IGN);
}

}  // namespace roentgen::cli
