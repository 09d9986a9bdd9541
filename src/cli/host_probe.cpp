// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/host_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "dist/launch_board.h"

namespace roentgen::cli {
namespace {

[[noreturn]] void become(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
  ::execvp(arguments[0], arguments.data());
  constexpr int kNotRun = 127;
  ::_exit(kNotRun);
}

// Returns true if the process ends with exit code 0 before `end`; otherwise kills it.
bool succeeds(pid_t process, std::chrono::steady_clock::time_point end) {
  const auto handle = static_cast<int>(::syscall(SYS_pidfd_open, process, 0U));
  pollfd look{.fd = handle, .events = POLLIN, .revents = 0};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
  const bool is_over = handle >= 0 && ::poll(&look, 1, std::max(static_cast<int>(left.count()), 0)) > 0;
  if (!is_over) ::kill(-process, SIGKILL);
  if (handle >= 0) ::close(handle);
  int status = 0;
  ::waitpid(process, &status, 0);
  return is_over && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

HostList find_answering(const HostList& hosts,
                        const std::function<std::vector<std::string>(const HostSlots& host)>& command_for,
                        std::chrono::milliseconds limit) {
  constexpr std::size_t kAtATime = 32;
  HostList answering;
  for (std::size_t begin = 0; begin < hosts.size(); begin += kAtATime) {
    const std::size_t end = std::min(begin + kAtATime, hosts.size());
    std::vector<pid_t> processes;
    for (std::size_t i = begin; i < end; ++i) {
      const bool is_here = hosts[i].name == "localhost" || hosts[i].name == dist::own_host();
      const std::vector<std::string> command = is_here ? std::vector<std::string>{"true"} : command_for(hosts[i]);
      processes.push_back(::fork());
      if (processes.back() == 0) become(command);
    }
    const auto last = std::chrono::steady_clock::now() + limit;
    for (std::size_t i = begin; i < end; ++i) {
      const pid_t process = processes[i - begin];
      if (process > 0 && succeeds(process, last)) answering.push_back(hosts[i]);
    }
  }
  return answering;
}

}  // namespace roentgen::cli
