// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Waits for files and processes without using the processor, so that tests do not disturb the times that they measure.
#pragma once

#include <poll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <vector>

namespace roentgen::e2e {

/// Notices files that are created, written or removed in a folder (inotify).
class FolderWatch {
 public:
  explicit FolderWatch(const std::filesystem::path& folder) : events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    ::inotify_add_watch(events_, folder.c_str(), IN_CREATE | IN_CLOSE_WRITE | IN_DELETE);
  }
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;
  ~FolderWatch() { ::close(events_); }

  /// Descriptor that is readable after a change.
  [[nodiscard]] int descriptor() const { return events_; }
  /// Forgets the changes so far. Call it before looking at the folder.
  void forget() const {
    std::array<char, 4096> bytes{};
    while (::read(events_, bytes.data(), bytes.size()) > 0) {
    }
  }
  /// Waits for a change, at most for `limit`. Returns false if there is none.
  bool wait(std::chrono::milliseconds limit = std::chrono::minutes(1)) const {
    pollfd look{.fd = events_, .events = POLLIN, .revents = 0};
    return ::poll(&look, 1, static_cast<int>(limit.count())) > 0;
  }

 private:
  int events_;
};

/// Waits until the processes have ended. Returns false after `limit`.
inline bool wait_for_ends(const std::vector<pid_t>& processes, std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + limit;
  for (const pid_t process : processes) {
    const auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0U));
    if (descriptor < 0) continue;  // it has ended already
    pollfd look{.fd = descriptor, .events = POLLIN, .revents = 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    const int found = left.count() > 0 ? ::poll(&look, 1, static_cast<int>(left.count())) : 0;
    ::close(descriptor);
    if (found <= 0) return false;
  }
  return true;
}

}  // namespace roentgen::e2e
