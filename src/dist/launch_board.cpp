// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/launch_board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

#include "core/error.h"
#include "dist/launched.h"

namespace roentgen::dist {
namespace {

// Lines of so many characters, ended by zeros: whether all are ready, the exit code, whether one has failed, then each
// rank's place.
constexpr std::size_t kLine = 128;
constexpr std::size_t kReady = 0;
constexpr std::size_t kEnd = 1;
constexpr std::size_t kFailed = 2;
constexpr std::size_t kFirstPlace = 3;

std::span<char> line_of(std::span<char> memory, std::size_t number) {
  if (memory.size() < (number + 1) * kLine) return {};
  return memory.subspan(number * kLine, kLine);
}

std::string_view text_of(std::span<const char> line) {
  return {line.data(), static_cast<std::size_t>(std::ranges::find(line, '\0') - line.begin())};
}

std::optional<int> number_in(std::span<const char> line) {
  const std::string_view text = text_of(line);
  int number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

std::span<char> map_file(int file, std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return {};
  return {static_cast<char*>(memory), bytes};
}

// The board of who started this process, for as long as it lives; empty: none, or on another host.
std::span<char> board() {
  static const std::span<char> memory = []() -> std::span<char> {
    const char* name = std::getenv(LaunchBoard::kVariable);
    const int file = name == nullptr ? -1 : ::open(name, O_RDWR | O_CLOEXEC);
    if (file < 0) return {};
    const off_t bytes = ::lseek(file, 0, SEEK_END);
    const std::span<char> mapped = bytes > 0 ? map_file(file, static_cast<std::size_t>(bytes)) : std::span<char>{};
    ::close(file);
    return mapped;
  }();
  return memory;
}

template <typename... Values>
void write_line(std::size_t number, const char* format, Values... values) {
  const std::span<char> line = line_of(board(), number);
  if (!line.empty()) std::snprintf(line.data(), line.size(), format, values...);
}

int own_rank() {
  static const int rank = [] {
    const auto launched = launched_rank();
    return launched ? launched->rank : 0;
  }();
  return rank;
}

/// RANK:PLACE:STEP:FILE
struct Hold {
  std::string rank, place, step, file;
};

std::optional<Hold> asked_hold() {
  const char* text = std::getenv("ROENTGEN_HOLD");
  if (text == nullptr) return std::nullopt;
  std::string_view rest(text);
  Hold hold;
  for (std::string* field : {&hold.rank, &hold.place, &hold.step}) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    *field = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  hold.file = rest;
  return hold;
}

void stand_still(const std::string& file) {
  std::ofstream(file) << ::getpid() << '\n';
  std::error_code error;
  while (std::filesystem::exists(file, error)) std::this_thread::yield();
}

}  // namespace

LaunchBoard::LaunchBoard(std::int64_t ranks)
    : file_((std::filesystem::temp_directory_path() / "roentgen_launch_XXXXXX").string()) {
  const std::size_t bytes = (kFirstPlace + static_cast<std::size_t>(ranks)) * kLine;
  const int file = ::mkstemp(file_.data());
  if (file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes)) == 0) memory_ = map_file(file, bytes);
  const int reason = errno;
  if (file >= 0) ::close(file);
  if (!memory_.empty()) return;
  ::unlink(file_.c_str());
  throw DataError(error_text("dist.launch", file_, "a file", std::strerror(reason), "another TMPDIR"));
}

LaunchBoard::~LaunchBoard() {
  ::munmap(memory_.data(), memory_.size());
  ::unlink(file_.c_str());
}

bool LaunchBoard::is_ready() const { return !text_of(line_of(memory_, kReady)).empty(); }

std::optional<int> LaunchBoard::exit_code() const { return number_in(line_of(memory_, kEnd)); }
std::optional<int> LaunchBoard::failure() const { return number_in(line_of(memory_, kFailed)); }

std::string LaunchBoard::place_of(std::int64_t rank) const {
  return std::string(text_of(line_of(memory_, kFirstPlace + static_cast<std::size_t>(rank))));
}

void tell_ready() noexcept { write_line(kReady, "%s", "ready"); }
void tell_failed(int exit_code) noexcept { write_line(kFailed, "%d", exit_code); }
void tell_end(int exit_code) noexcept { write_line(kEnd, "%d", exit_code); }

void reach(Phase place, std::int64_t step) {
  if (!board().empty()) {
    const std::size_t line = kFirstPlace + static_cast<std::size_t>(own_rank());
    const auto update = static_cast<long long>(step) + 1;
    const auto index = static_cast<long long>(place.index);
    if (step >= 0 && place.index >= 0) {
      write_line(line, "update %lld, %s %lld", update, place.name, index);
    } else if (step >= 0) {
      write_line(line, "update %lld, %s", update, place.name);
    } else {
      write_line(line, "%s", place.name);
    }
  }
  static std::optional<Hold> hold = asked_hold();  // of the one thread that works
  if (!hold || hold->rank != std::to_string(own_rank()) || hold->place != place.text()) return;
  if (hold->step != "any" && hold->step != std::to_string(step)) return;
  stand_still(hold->file);
  hold.reset();
}

}  // namespace roentgen::dist
