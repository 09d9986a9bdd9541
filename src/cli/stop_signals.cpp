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
  if (signal == SIGINT || signal == SIGTERM) std::signal(signal, SIG_DFL);
}

}  // namespace

void ignore_closed_pipes() { std::signal(SIGPIPE, SIG_IGN); }

void listen_for_stop() {
  if (is_stop_asked()) return;  // keeps the default handler, so that a second signal ends the process
  const bool is_deaf = is_hangup_ignored();
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) std::signal(signal, remember_signal);
  if (!is_deaf) std::signal(SIGHUP, remember_signal);
}

bool is_hangup_ignored() {
  struct sigaction now {};
  return ::sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

bool is_stop_asked() { return stop_signal != 0; }

void ignore_stop() {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGHUP}) std::signal(signal, SIG_IGN);
}

}  // namespace roentgen::cli
