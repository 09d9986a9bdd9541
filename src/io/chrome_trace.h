// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Chrome's trace event format (JSON object form), which chrome://tracing and ui.perfetto.dev open.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/value.h"

namespace roentgen::io {

/// A span of time of a thread. Events of one thread must nest: viewers draw them as stacks.
struct TraceEvent {
  std::string name;
  /// Category by which viewers can filter.
  std::string category;
  int process = 0;
  int thread = 0;
  /// Start and end, relative to any moment; at least 0.
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  /// Table of further properties; may be null.
  Value arguments{};
};

/// Name of a process or of one of its threads. Viewers show processes and threads in the order of their numbers.
struct TraceName {
  int process = 0;
  /// Number of the thread; negative: name of the process itself.
  int thread = -1;
  std::string name;
};

/// @param about stands beside the events, as "otherData"
void write_chrome_trace(const std::filesystem::path& path, const std::vector<TraceName>& names,
                        const std::vector<TraceEvent>& events, const Value& about);

}  // namespace roentgen::io
