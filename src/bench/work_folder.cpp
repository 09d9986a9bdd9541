// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/work_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <random>
#include <system_error>

#include "core/error.h"
#include "core/log.h"

namespace roentgen::bench {
namespace {

namespace fs = std::filesystem;

// Returns a path that nothing else has.
fs::path new_path(const fs::path& place) {
  std::random_device device;
  const auto number = std::uniform_int_distribution<std::uint64_t>()(device);
  return fs::absolute(place) / fmt::format("roentgen-bench-{:016x}", number);
}

// Waits until no process has the write end of the pipe open, and removes the folder. Calls only functions that are safe
// after fork() in a process with threads. Signals to the process group, such as Ctrl-C, do not reach it; the caller
// blocks them before fork().
[[noreturn]] void remove_at_end_of(const std::array<int, 2>& pipe, const char* folder) {
  ::setpgid(0, 0);
  ::close(pipe[1]);  // before read(), which would wait for its own end; Linux before 5.9 has no close_range()
  ::dup2(pipe[0], STDIN_FILENO);
  ::close_range(STDIN_FILENO + 1, ~0U, 0);
  char none = 0;
  while (::read(STDIN_FILENO, &none, 1) < 0 && errno == EINTR) {
  }
  ::execl("/bin/rm", "rm", "-rf", "--", folder, static_cast<char*>(nullptr));
  ::_exit(1);
}

}  // namespace

// The remover starts before the folder exists, so that a signal at any time leaves nothing behind.
WorkFolder::WorkFolder(const fs::path& place) : path_(new_path(place)) {
  start_remover();
  if (::mkdir(path_.c_str(), S_IRWXU) == 0) return;
  const int code = errno;
  ::close(lifeline_);
  ::waitpid(remover_, nullptr, 0);
  throw ConfigError(error_text("bench.records", place.string(), "a folder that can be written to", std::strerror(code),
                               "--work DIR"));
}

void WorkFolder::start_remover() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
    sigset_t all{}, before{};
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
    remover_ = ::fork();
    if (remover_ == 0) remove_at_end_of(ends, path_.c_str());
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::close(ends[0]);
    lifeline_ = ends[1];
  }
  if (remover_ > 0) return;
  const int code = errno;
  if (lifeline_ >= 0) ::close(lifeline_);
  throw DeviceError(
      error_text("bench.records", path_.string(), "a process that removes it", std::strerror(code), "fewer processes"));
}

WorkFolder::~WorkFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
  ::close(lifeline_);
  ::waitpid(remover_, nullptr, 0);
  if (error) log::warning("cannot remove " + path_.string() + ": " + error.message());
}

}  // namespace roentgen::bench
