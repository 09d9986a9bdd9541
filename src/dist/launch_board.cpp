// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/launch_board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/error.h"
#include "dist/launched.h"
#include "runtime/cache_folder.h"

namespace roentgen::dist {
namespace {

// Layout of the shared memory: lines of kLine characters, each ended by zeros. The lines say whether all ranks are
// ready, the exit code of rank 0, and that of the first failed rank. Further lines say which rank was killed, and name
// the host. One line per rank follows, with its activity and process id.
constexpr std::size_t kLine = 128;
constexpr std::size_t kReady = 0;
constexpr std::size_t kEnded = 1;
constexpr std::size_t kFailed = 2;
constexpr std::size_t kKilled = 3;
constexpr std::size_t kHost = 4;
constexpr std::size_t kFirstRank = 5;
// Offset of the process id in a rank's line. In the line about a killed rank, this byte marks it as taken, because only
// the first writer may fill it. In the line about a failed rank, it says that a rank ended after another one failed.
constexpr std::size_t kBehind = 96;

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

std::span<char> span_of(void* memory, std::size_t bytes) {
  if (memory == MAP_FAILED) return {};
  return {static_cast<char*>(memory), bytes};
}

std::span<char> map_file(int file, std::size_t bytes) {
  return span_of(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), bytes);
}

// Maps memory that this process shares with its children only.
std::span<char> map_own(std::size_t bytes) {
  return span_of(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), bytes);
}

struct Board {
  std::span<char> memory;
  /// True if the process that started the ranks sees this memory.
  bool is_of_starter = false;
};

// Returns the shared memory of this process, which exists until the process ends.
const Board& board() {
  static const Board joined = []() -> Board {
    const auto launched = launched_rank();
    if (!launched) return {};
    const char* name = std::getenv(LaunchBoard::kVariable);
    const int file = name == nullptr ? -1 : ::open(name, O_RDWR | O_CLOEXEC);
    const off_t bytes = file < 0 ? 0 : ::lseek(file, 0, SEEK_END);
    Board found;
    if (bytes > 0) found = {.memory = map_file(file, static_cast<std::size_t>(bytes)), .is_of_starter = true};
    if (file >= 0) ::close(file);
    // With a shared file system, other hosts see the same file but do not share its memory.
    if (!found.memory.empty() && text_of(line_of(found.memory, kHost)) == own_host()) return found;
    return {.memory = map_own((kFirstRank + static_cast<std::size_t>(launched->size)) * kLine)};
  }();
  return joined;
}

int own_rank() {
  static const int rank = [] {
    const auto launched = launched_rank();
    return launched ? launched->rank : 0;
  }();
  return rank;
}

template <typename... Values>
void write_text(std::span<char> into, const char* format, Values... values) {
  if (!into.empty()) std::snprintf(into.data(), into.size(), format, values...);
}

template <typename... Values>
void write_line(std::size_t number, const char* format, Values... values) {
  write_text(line_of(board().memory, number), format, values...);
}

// Writes a line only if no other rank has written it.
template <typename... Values>
void write_first(std::size_t number, const char* format, Values... values) {
  const std::span<char> line = line_of(board().memory, number);
  if (line.empty() || std::atomic_ref(line[kBehind]).exchange('x') != '\0') return;
  write_text(line.first(kBehind), format, values...);
}

// Returns the first part of a rank's line, with the activity. process_in() returns the rest.
std::span<char> place_in(std::span<char> memory, std::int64_t rank) {
  const std::span<char> line = line_of(memory, kFirstRank + static_cast<std::size_t>(rank));
  return line.empty() ? line : line.first(kBehind);
}
std::span<char> process_in(std::span<char> memory, std::int64_t rank) {
  const std::span<char> line = line_of(memory, kFirstRank + static_cast<std::size_t>(rank));
  return line.empty() ? line : line.subspan(kBehind);
}

// True if the activity of a rank satisfies `is_wanted`.
template <typename IsWanted>
bool has_place(std::span<char> memory, const IsWanted& is_wanted) {
  for (std::int64_t rank = 0; !place_in(memory, rank).empty(); ++rank) {
    if (is_wanted(text_of(place_in(memory, rank)))) return true;
  }
  return false;
}

}  // namespace

std::string own_host() {
  std::array<char, kLine> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

LaunchBoard::LaunchBoard(std::int64_t ranks)
    : file_((runtime::temporary_folder() / "roentgen_launch_XXXXXX").string()) {
  const std::size_t bytes = (kFirstRank + static_cast<std::size_t>(ranks)) * kLine;
  const int file = ::mkstemp(file_.data());
  if (file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes)) == 0) memory_ = map_file(file, bytes);
  const int reason = errno;
  if (file >= 0) ::close(file);
  write_text(line_of(memory_, kHost), "%s", own_host().c_str());
  if (!memory_.empty()) return;
  ::unlink(file_.c_str());
  throw DataError(error_text("dist.launch", file_, "a file that can be created", std::strerror(reason),
                             "another folder in the variable TMPDIR"));
}

LaunchBoard::~LaunchBoard() {
  ::munmap(memory_.data(), memory_.size());
  ::unlink(file_.c_str());
}

bool LaunchBoard::is_ready() const { return !text_of(line_of(memory_, kReady)).empty(); }

std::optional<int> LaunchBoard::exit_code() const { return number_in(line_of(memory_, kEnded)); }
bool LaunchBoard::has_failed() const {
  const std::span<char> line = line_of(memory_, kFailed);
  return line[0] != '\0' || std::atomic_ref(line[kBehind]).load() != '\0';
}
std::optional<int> LaunchBoard::failure() const { return number_in(line_of(memory_, kFailed)); }

bool LaunchBoard::is_connecting() const {
  return has_place(memory_, [](std::string_view place) { return place == kStartUp.name; });
}
bool LaunchBoard::is_connected() const {
  return has_place(memory_, [](std::string_view place) { return !place.empty() && place != kStartUp.name; });
}

std::string LaunchBoard::place_of(std::int64_t rank) const { return std::string(text_of(place_in(memory_, rank))); }

std::optional<KilledRank> LaunchBoard::killed() const {
  const std::string text(text_of(line_of(memory_, kKilled).first(kBehind)));
  KilledRank killed{.host = own_host()};
  if (std::sscanf(text.c_str(), "%d %d", &killed.rank, &killed.signal) != 2) return std::nullopt;
  return killed;
}

std::optional<int> LaunchBoard::process_of(std::int64_t rank) const { return number_in(process_in(memory_, rank)); }

std::vector<int> LaunchBoard::processes() const {
  std::vector<int> found;
  for (std::int64_t rank = 0; !process_in(memory_, rank).empty(); ++rank) {
    if (const auto process = process_of(rank)) found.push_back(*process);
  }
  return found;
}

bool tell_ready() noexcept {
  write_line(kReady, "%s", "ready");
  return board().is_of_starter;
}
bool tell_failed(int exit_code) noexcept {
  write_line(kFailed, "%d", exit_code);
  return board().is_of_starter;
}
void tell_failed_later() noexcept {
  const std::span<char> line = line_of(board().memory, kFailed);
  if (!line.empty()) std::atomic_ref(line[kBehind]).store('x');
}
void tell_end(int exit_code) noexcept { write_line(kEnded, "%d", exit_code); }

bool is_seen_by_starter() { return board().is_of_starter; }
void tell_process() noexcept { write_text(process_in(board().memory, own_rank()), "%d", static_cast<int>(::getpid())); }

bool tell_killed(int signal) noexcept {
  write_first(kKilled, "%d %d", own_rank(), signal);
  return board().is_of_starter;
}

std::string own_place() { return std::string(text_of(place_in(board().memory, own_rank()))); }

void reach(Phase place, std::int64_t step) {
  const std::span<char> line = place_in(board().memory, own_rank());
  const auto update = static_cast<long long>(step) + 1;
  const auto index = static_cast<long long>(place.index);
  if (step >= 0 && place.index >= 0) {
    write_text(line, "update %lld, %s %lld", update, place.name, index);
  } else if (step >= 0) {
    write_text(line, "update %lld, %s", update, place.name);
  } else {
    write_text(line, "%s", place.name);
  }
}

}  // namespace roentgen::dist
