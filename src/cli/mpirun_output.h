// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// OutputPipe: pipe that carries standard output or standard error of mpirun. Only for the launcher.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "cli/mpirun_words.h"
#include "core/error.h"

namespace roentgen::cli {

/// Pipe that carries standard output or standard error of mpirun, with the output of the ranks.
class OutputPipe {
 public:
  /// @param to    destination of the output
  OutputPipe(std::FILE* to, int* error) : to_(to), error_(error) {
    if (::pipe2(ends_.data(), O_CLOEXEC) == 0) return;
    throw DeviceError(
        error_text("cli.launch", "mpirun", "a pipe for its output", std::strerror(errno), "a larger ulimit -n"));
  }
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;
  ~OutputPipe() {
    ::close(ends_[0]);
    close_write_end();
  }
  void close_write_end() {
    if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }
  [[nodiscard]] int write_end() const { return ends_[1]; }
  /// Descriptor that is readable when output is pending.
  [[nodiscard]] pollfd look() const { return {.fd = is_over_ ? -1 : ends_[0], .events = POLLIN, .revents = 0}; }
  /// Forwards the pending output; call it only after look() found some.
  void pass_on(MpirunWords& words) {
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(ends_[0], bytes.data(), bytes.size());
    is_over_ = count == 0;
    if (count > 0) say(words.pass({bytes.data(), static_cast<std::size_t>(count)}));
  }
  void say(const std::string& text) const {
    const bool is_written = std::fwrite(text.data(), 1, text.size(), to_) == text.size();
    if ((std::fflush(to_) != 0 || !is_written) && error_ != nullptr && *error_ == 0) *error_ = errno;
  }

 private:
  std::FILE* to_;
  int* error_;
  std::array<int, 2> ends_{-1, -1};
  bool is_over_ = false;
};

}  // namespace roentgen::cli
