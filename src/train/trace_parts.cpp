// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/trace_parts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/file.h"
#include "io/json.h"
#include "train/trace.h"

namespace roentgen::train {
namespace {

namespace fs = std::filesystem;

fs::path about_file(const fs::path& folder) { return folder / "about.json"; }
fs::path part_file(const fs::path& folder, int rank) { return folder / fmt::format("rank-{}.txt", rank); }

Value to_value(const RankTrace& rank) {
  return Value::Table{{"rank", rank.rank},
                      {"host", rank.host},
                      {"at_ns", rank.begin.at_ns},
                      {"offset_ns", rank.begin.offset.offset_ns},
                      {"error_ns", rank.begin.offset.error_ns}};
}

RankTrace rank_of(const Value& value) {
  RankTrace rank{.rank = static_cast<int>(value.at("rank").as_integer()), .host = value.at("host").as_string()};
  rank.begin = {
      .at_ns = value.at("at_ns").as_integer(),
      .offset = {.offset_ns = value.at("offset_ns").as_integer(), .error_ns = value.at("error_ns").as_integer()}};
  rank.end = rank.begin;
  return rank;
}

// Appends a span as one complete line of text.
void append_line(fmt::memory_buffer& text, const Span& span) {
  fmt::format_to(std::back_inserter(text), "{} {} {} {} {} {}\t{}\n", span.index, span.begin_ns, span.end_ns,
                 span.started_ns, span.ticket, span.bytes, span.name);
}

// Adds the spans and names of all lines to `into`; stops at the first incomplete line.
void read_lines(std::string_view text, RankTrace& into) {
  while (true) {
    const std::size_t end = text.find('\n');
    const std::size_t tab = text.find('\t');
    if (end == std::string_view::npos || tab > end) return;
    std::array<std::int64_t, 6> numbers{};
    const char* at = text.data();
    for (std::int64_t& number : numbers) {
      const auto [after, error] = std::from_chars(at, text.data() + tab, number);
      if (error != std::errc()) return;
      at = std::min(after + 1, text.data() + tab);  // skips the blank
    }
    into.spans.push_back({.index = numbers[0],
                          .begin_ns = numbers[1],
                          .end_ns = numbers[2],
                          .started_ns = numbers[3],
                          .ticket = numbers[4],
                          .bytes = numbers[5]});
    into.names.emplace_back(text.substr(tab + 1, end - tab - 1));
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string to_bytes(const RankTrace& own) {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "{} {}\n", own.spans.size(), own.dropped);
  for (const Span& span : own.spans) append_line(text, span);
  return fmt::to_string(text);
}

RankTrace rank_trace_from(const std::string& bytes) {
  RankTrace trace;
  std::size_t count = 0;
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  if (std::istringstream(bytes.substr(0, end)) >> count >> trace.dropped) {
    read_lines(std::string_view(bytes).substr(std::min(end + 1, bytes.size())), trace);
  }
  if (trace.spans.size() == count) return trace;
  throw CommError(error_text("train.trace", "number of trace spans of a rank", fmt::to_string(count),
                             fmt::to_string(trace.spans.size()), "the same build of Roentgen on all hosts"));
}

TracePart::TracePart(const fs::path& folder, int rank)
    : file_(::open(part_file(folder, rank).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666)) {}

TracePart::~TracePart() {
  if (file_ >= 0) ::close(file_);
}

void TracePart::add(const Span& span) {
  if (file_ < 0) return;
  fmt::memory_buffer line;
  append_line(line, span);
  if (::write(file_, line.data(), line.size()) == static_cast<ssize_t>(line.size())) return;
  ::close(std::exchange(file_, -1));
}

void begin_trace_parts(const fs::path& folder, const Value& about, const std::vector<RankTrace>& clocks) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) fs::create_directory(folder, error);
  if (error) {
    throw DataError(error_text("train.trace", folder.string(), "a folder that can be created", error.message(),
                               "changing the permissions, or no --trace"));
  }
  Value ranks = Value::array();
  for (const RankTrace& clock : clocks) ranks.push_back(to_value(clock));
  io::write_file_atomically(about_file(folder),
                            io::to_json(Value::Table{{"about", about}, {"clocks", std::move(ranks)}}) + "\n");
}

void merge_trace_parts(const fs::path& folder, const fs::path& path) {
  const auto text = io::read_text(about_file(folder));
  if (!text.ok()) return;
  const Value begun = io::parse_json(text.value(), about_file(folder).string()).or_throw();
  std::vector<RankTrace> traces;
  for (const Value& clock : begun.at("clocks").as_array()) {
    RankTrace trace = rank_of(clock);
    const auto lines = io::read_text(part_file(folder, trace.rank));
    if (!lines.ok()) continue;
    read_lines(lines.value(), trace);
    traces.push_back(std::move(trace));
  }
  Value about = begun.at("about");
  about.set("traced_ranks", std::ssize(traces));
  about.set("is_whole", false);
  write_trace(path, traces, about);
}

}  // namespace roentgen::train
