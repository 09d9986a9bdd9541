// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/trace_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <sstream>

#include "core/error.h"
#include "train/trace.h"

namespace roentgen::train {
void append_line(fmt::memory_buffer& text, const Span& span) {
  fmt::format_to(std::back_inserter(text), "{} {} {} {} {} {}\t{}\n", span.index, span.begin_ns, span.end_ns,
                 span.started_ns, span.ticket, span.bytes, span.name);
}

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
      at = std::min(after + 1, text.data() + tab);  // the blank
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
  throw CommError(error_text("train.trace", "spans", fmt::format("{} of them", count),
                             fmt::to_string(trace.spans.size()), "the same build on all ranks"));
}

}  // namespace roentgen::train
