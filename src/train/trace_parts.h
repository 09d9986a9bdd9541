// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Traces of failed runs: the records of each rank, in a file of its own that is complete even when the rank is killed.
// In a successful run, ranks send the same lines to rank 0 (trace.h), with clocks measured at the end as well.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/timeline.h"
#include "core/value.h"

namespace roentgen::train {

struct RankTrace;

/// Spans and names of this process's own spans, and how many were dropped, as text for another rank.
[[nodiscard]] std::string to_bytes(const RankTrace& own);
/// Reads text of to_bytes(), with names; CommError for anything else.
[[nodiscard]] RankTrace rank_trace_from(const std::string& bytes);

/// A rank's file in the folder of parts: a line for each span. Not movable. One thread at a time.
class TracePart {
 public:
  /// Makes the file. Where it cannot be made nothing is written: the host does not see the run folder.
  TracePart(const std::filesystem::path& folder, int rank);
  TracePart(const TracePart&) = delete;
  TracePart& operator=(const TracePart&) = delete;
  ~TracePart();

  /// Hands the line to the system, which keeps it whatever becomes of this process. Nothing more once that has failed.
  void add(const Span& span);

 private:
  int file_ = -1;
};

/// Begins a folder of parts, without any of an older start. Rank 0's. DataError when it cannot be made.
/// @param about stands in the trace
/// @param clocks ranks, hosts and their clocks at the start
void begin_trace_parts(const std::filesystem::path& folder, const Value& about, const std::vector<RankTrace>& clocks);

/// Makes a trace of the existing parts, without incomplete lines. Times of other hosts use the clocks of the start.
/// Keeps the parts. Does nothing where there is no such folder. Throws DataError when it cannot be written.
void merge_trace_parts(const std::filesystem::path& folder, const std::filesystem::path& path);

}  // namespace roentgen::train
