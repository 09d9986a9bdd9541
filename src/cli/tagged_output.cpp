// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/tagged_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "core/error.h"

namespace roentgen::cli {
namespace {

void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(to, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // the rank must continue even if nobody reads its output
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void close_end(int& end) {
  if (end >= 0) ::close(std::exchange(end, -1));
}

}  // namespace

std::size_t tag_size(std::string_view line) {
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  return digits > 0 && line.substr(digits).starts_with(": ") ? digits + 2 : 0;
}

TaggedOutput::TaggedOutput(int rank) : tag_(std::to_string(rank) + ": ") {
  for (auto& [stream, to] : {std::pair{&out_, STDOUT_FILENO}, {&err_, STDERR_FILENO}}) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw DeviceError(error_text("cli.launch", "--tag-output", "a pipe for the output of a rank",
                                   std::strerror(errno), "a larger ulimit -n"));
    }
    *stream = {.read_end = ends[0], .write_end = ends[1], .to = to};
  }
}

TaggedOutput::~TaggedOutput() {
  for (Stream* stream : {&out_, &err_}) {
    close_end(stream->read_end);
    close_end(stream->write_end);
  }
}

void TaggedOutput::become_rank() {
  for (Stream* stream : {&out_, &err_}) {
    ::dup2(stream->write_end, stream->to);
    close_end(stream->read_end);
    close_end(stream->write_end);
  }
}

void TaggedOutput::become_guard() {
  for (Stream* stream : {&out_, &err_}) {
    close_end(stream->write_end);
    ::fcntl(stream->read_end, F_SETFL, O_NONBLOCK);
  }
}

bool TaggedOutput::pass_on(Stream& stream) const {
  std::array<char, 4096> bytes{};
  const ssize_t count = stream.read_end < 0 ? 0 : ::read(stream.read_end, bytes.data(), bytes.size());
  if (count <= 0) return count < 0 && errno == EINTR;
  std::string lines;
  for (const char c : std::string_view(bytes.data(), static_cast<std::size_t>(count))) {
    if (stream.begun.empty()) stream.begun = tag_;
    stream.begun += c;
    if (c == '\n') lines += std::exchange(stream.begun, {});
  }
  write_all(stream.to, lines);
  return true;
}

int TaggedOutput::wait(const sigset_t& held) {
  const int signals = ::signalfd(-1, &held, SFD_CLOEXEC);
  constexpr timespec kAtOnce{.tv_sec = 0, .tv_nsec = 0};
  int signal = -1;
  while (signal < 0) {
    std::array<pollfd, 3> looks{pollfd{.fd = out_.read_end, .events = POLLIN, .revents = 0},
                                pollfd{.fd = err_.read_end, .events = POLLIN, .revents = 0},
                                pollfd{.fd = signals, .events = POLLIN, .revents = 0}};
    if (::poll(looks.data(), looks.size(), -1) < 0) continue;
    // poll() also reports a pipe whose writers have closed it; pass_on() then returns false.
    if (looks[0].revents != 0 && !pass_on(out_)) close_end(out_.read_end);
    if (looks[1].revents != 0 && !pass_on(err_)) close_end(err_.read_end);
    if (looks[2].revents != 0) signal = ::sigtimedwait(&held, nullptr, &kAtOnce);
  }
  ::close(signals);
  return signal;
}

void TaggedOutput::finish() {
  for (Stream* stream : {&out_, &err_}) {
    while (pass_on(*stream)) {
    }
    if (!stream->begun.empty()) write_all(stream->to, std::exchange(stream->begun, {}) + '\n');
  }
}

}  // namespace roentgen::cli
