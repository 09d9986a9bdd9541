// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/rank_guard.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bitset>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>

#include "cli/command.h"
#include "cli/tagged_output.h"
#include "core/error.h"
#include "dist/launched.h"

namespace roentgen::cli {
namespace {

constexpr std::string_view kBegin = "[cli.launch] ";
constexpr std::string_view kExpected = ": expected a normal exit, got signal ";

void tell(int signal, bool is_run) {
  const auto own = dist::launched_rank();
  if (dist::tell_killed(signal) || !own) return;
  const std::string line =
      text_of({.rank = own->rank, .host = dist::own_host(), .signal = signal}, dist::own_place(), is_run) + '\n';
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

// Ends this process by the same signal as the rank, so that mpirun sees the rank's status. Does not write a second core
// file.
[[noreturn]] void end_by(int signal) {
  constexpr rlimit kNone{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &kNone);
  std::signal(signal, SIG_DFL);
  sigset_t one{};
  sigemptyset(&one);
  sigaddset(&one, signal);
  ::raise(signal);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
  constexpr int kBySignal = 128;
  ::_exit(kBySignal + signal);
}

// Waits for the rank and forwards the signals in `held`, which are blocked.
[[noreturn]] void guard(pid_t rank, const sigset_t& held, bool is_run, TaggedOutput* output) {
  ::prctl(PR_SET_NAME, kGuardName);
  std::bitset<NSIG> passed;
  while (true) {
    const int signal = output == nullptr ? ::sigwaitinfo(&held, nullptr) : output->wait(held);
    if (signal < 0) continue;
    if (signal != SIGCHLD) {
      passed.set(static_cast<std::size_t>(signal));
      ::kill(rank, signal);
      continue;
    }
    int status = 0;
    if (::waitpid(rank, &status, WNOHANG) != rank) continue;
    if (output != nullptr) output->finish();
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : kFailure;
    // Does not report a rank that a forwarded signal ended, because the sender of the signal expects it.
    if (WIFSIGNALED(status) && !passed.test(static_cast<std::size_t>(WTERMSIG(status)))) tell(WTERMSIG(status), is_run);
    if (code != kSuccess && code != kStopped) end_deserted_daemon();
    if (WIFSIGNALED(status)) end_by(WTERMSIG(status));
    ::_exit(code);
  }
}

}  // namespace

void guard_rank(bool is_run, bool is_tagged) {
  const auto launched = dist::launched_rank();
  std::optional<TaggedOutput> output;
  if (is_tagged && launched) output.emplace(launched->rank);
  static_cast<void>(dist::own_place());  // creates the shared memory before the fork, so that both processes use it
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t held{}, before{};
  sigemptyset(&held);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP, SIGQUIT}) sigaddset(&held, signal);
  ::sigprocmask(SIG_BLOCK, &held, &before);
  const pid_t own = ::getpid();
  const pid_t rank = ::fork();
  if (rank < 0) {
    throw DeviceError(error_text("cli.launch", "a rank", "a new process", std::strerror(errno), "fewer processes"));
  }
  ::setpgid(rank, rank);  // signals to mpirun's process group reach only the guard, which forwards them once
  if (rank > 0 && output) output->become_guard();
  if (rank > 0) guard(rank, held, is_run, output ? &*output : nullptr);
  if (output) output->become_rank();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != own) ::_exit(kFailure);  // the guard has already ended
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  dist::tell_process();
}

std::string text_of(const dist::KilledRank& killed, const std::string& place, bool is_run) {
  const std::string who = killed.rank < 0 ? "a rank" : fmt::format("rank {} ({})", killed.rank, killed.host);
  return error_text("cli.launch", place.empty() ? who : who + ", " + place, "a normal exit",
                    fmt::format("signal {} ({})", killed.signal, ::strsignal(killed.signal)),
                    fmt::format("{}, and dmesg, which lists processes killed for lack of memory",
                                is_run ? "--resume" : "running the command again"));
}

bool is_about_killed(std::string_view line) {
  return line.starts_with(kBegin) && line.find(kExpected) != std::string_view::npos;
}

void end_deserted_daemon() {
  const pid_t daemon = ::getppid();
  std::string name;
  std::getline(std::ifstream(fmt::format("/proc/{}/comm", daemon)), name);
  if ((name != "orted" && name != "prted") || ::fork() != 0) return;
  ::close_range(0, ~0U, 0);                  // close inherited pipes, because the daemon waits until they are closed
  constexpr int kTimes = 10, kEachMs = 100;  // a daemon that reaches mpirun ends in less time
  for (int i = 0; i < kTimes && ::kill(daemon, 0) == 0; ++i) ::poll(nullptr, 0, kEachMs);
  ::kill(daemon, SIGKILL);
  ::_exit(0);
}

}  // namespace roentgen::cli
