// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "doctor/command_output.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace roentgen::doctor {
namespace {

using Clock = std::chrono::steady_clock;

/// Starts a program whose standard output is `out`. Returns -1 if it cannot be started. posix_spawn() does not run the
/// fork handlers of MPI libraries, which warn about forks.
pid_t start(const std::vector<std::string>& command, int out) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes{};
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t process = -1;
  const int failure = ::posix_spawnp(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return failure == 0 ? process : -1;
}

/// Reads until the other end is closed. Returns false if that takes until `end`.
bool read_until(int descriptor, Clock::time_point end, std::string& text) {
  constexpr std::size_t kMost_bytes = 1 << 20;
  std::array<char, 4096> piece{};
  while (text.size() < kMost_bytes) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd look{.fd = descriptor, .events = POLLIN, .revents = 0};
    if (left <= 0 || ::poll(&look, 1, static_cast<int>(left)) <= 0) return false;
    const ssize_t count = ::read(descriptor, piece.data(), piece.size());
    if (count <= 0) return count == 0;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

std::optional<std::string> command_output(const std::vector<std::string>& command, std::chrono::milliseconds limit) {
  const auto end = Clock::now() + limit;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const pid_t process = start(command, ends[1]);
  ::close(ends[1]);
  std::string text;
  const bool is_complete = process > 0 && read_until(ends[0], end, text);
  ::close(ends[0]);
  if (process <= 0) return std::nullopt;
  if (!is_complete) ::kill(-process, SIGKILL);
  int status = 0;
  ::waitpid(process, &status, 0);
  if (!is_complete || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return text;
}

}  // namespace roentgen::doctor
