// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What a rank wrote down, on its way to rank 0 or into a file. Not for others than the trace.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>

#include "core/timeline.h"
#include "dist/communicator.h"

namespace roentgen::train {

struct RankTrace;

/// A span as a line of text, with its end.
void append_line(fmt::memory_buffer& text, const Span& span);
/// Spans and names of lines, added to those there are; up to the first line that is not whole.
void read_lines(std::string_view text, RankTrace& into);

/// Spans and names of this process's own spans, and how many were dropped.
[[nodiscard]] std::string to_bytes(const RankTrace& own);
/// What to_bytes() made, with names; CommError for anything else.
[[nodiscard]] RankTrace rank_trace_from(const std::string& bytes);

/// Bytes of any number, which the other end gets by receive_bytes(). CommError as dist::Pending::wait().
void send_bytes(dist::Communicator& group, const std::string& bytes, dist::Address to, dist::Phase phase,
                std::chrono::milliseconds limit);
[[nodiscard]] std::string receive_bytes(dist::Communicator& group, dist::Address from, dist::Phase phase,
                                        std::chrono::milliseconds limit);

}  // namespace roentgen::train
