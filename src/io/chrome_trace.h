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

/// A time span of a thread. Events of one thread must nest, because viewers draw them as stacks.
struct TraceEvent {
  std::string name;
  /// Category that viewers can filter by.
  std::string category;
  int process = 0;
  int thread = 0;
  /// Start and end (`end_ns`) relative to a moment that all events share; at least 0.
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  /// Table of further properties that viewers show; may be null.
  Value arguments{};
};

/// Name of a process or one of its threads. Viewers sort processes and threads by number.
struct TraceName {
  int process = 0;
  /// Number of the thread; negative if this names the process itself.
  int thread = -1;
  std::string name;
};

/// Writes a trace file.
/// @param about written next to the events as "otherData"
void write_chrome_trace(const std::filesystem::path& path, const std::vector<TraceName>& names,
                        const std::vector<TraceEvent>& events, const Value& about);

}  // namespace roentgen::io
