// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/trace_bytes.h"

#include <fmt/format.h>

#include <iterator>
#include <sstream>

#include "core/error.h"
#include "train/trace.h"

namespace roentgen::train {
namespace {

// MPI counts bytes with an int.
constexpr std::size_t kPieceBytes = std::size_t{64} << 20U;

}  // namespace

std::string to_bytes(const RankTrace& own) {
  std::string text = fmt::format("{} {}\n", own.spans.size(), own.dropped);
  for (const Span& span : own.spans) {
    fmt::format_to(std::back_inserter(text), "{} {} {} {} {} {}\t{}\n", span.index, span.begin_ns, span.end_ns,
                   span.started_ns, span.ticket, span.bytes, span.name);
  }
  return text;
}

RankTrace rank_trace_from(const std::string& bytes) {
  std::istringstream stream(bytes);
  RankTrace trace;
  std::size_t count = 0;
  stream >> count >> trace.dropped;
  for (std::size_t i = 0; i < count && stream; ++i) {
    Span span;
    stream >> span.index >> span.begin_ns >> span.end_ns >> span.started_ns >> span.ticket >> span.bytes;
    stream.get();  // the tab
    std::string name;
    std::getline(stream, name);
    trace.spans.push_back(span);
    trace.names.push_back(std::move(name));
  }
  if (!stream) throw CommError(error_text("train.trace", "spans", fmt::format("{} of them", count), "fewer", ""));
  return trace;
}

void send_bytes(dist::Communicator& group, const std::string& bytes, dist::Address to, dist::Phase phase,
                std::chrono::milliseconds limit) {
  const std::uint64_t count = bytes.size();
  group.send(std::as_bytes(std::span(&count, 1)), to, phase).wait(limit);
  for (std::size_t begin = 0; begin < bytes.size(); begin += kPieceBytes) {
    const std::size_t piece = std::min(kPieceBytes, bytes.size() - begin);
    group.send(std::as_bytes(std::span(bytes).subspan(begin, piece)), to, phase).wait(limit);
  }
}

std::string receive_bytes(dist::Communicator& group, dist::Address from, dist::Phase phase,
                          std::chrono::milliseconds limit) {
  std::uint64_t count = 0;
  group.receive(std::as_writable_bytes(std::span(&count, 1)), from, phase).wait(limit);
  std::string bytes(count, '\0');
  for (std::size_t begin = 0; begin < bytes.size(); begin += kPieceBytes) {
    const std::size_t piece = std::min(kPieceBytes, bytes.size() - begin);
    group.receive(std::as_writable_bytes(std::span(bytes).subspan(begin, piece)), from, phase).wait(limit);
  }
  return bytes;
}

}  // namespace roentgen::train
