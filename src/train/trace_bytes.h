// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What a rank wrote down, on its way to rank 0 or into a file. Not for others than the trace.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "core/timeline.h"

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

}  // namespace roentgen::train
