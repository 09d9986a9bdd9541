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
  /// Creates the file. On failure, nothing is recorded: a host may not see the run folder.
  TracePart(const std::filesystem::path& folder, int rank);
  TracePart(const TracePart&) = delete;
  TracePart& operator=(const TracePart&) = delete;
  ~TracePart();

  /// Passes the line to the system, which keeps it even if this process dies. Does nothing after a failure.
  void add(const Span& span);

 private:
  int file_ = -1;
};

/// Creates an empty folder of parts and removes that of an earlier start. Rank 0 only. DataError when it cannot be
/// made.
/// @param about text that the trace contains
/// @param clocks ranks, hosts and their clocks at the start
void begin_trace_parts(const std::filesystem::path& folder, const Value& about, const std::vector<RankTrace>& clocks);

/// Builds a trace from the existing parts, without incomplete lines. Times of other hosts use the clocks of the start.
/// Keeps the parts. Does nothing when the folder does not exist. Throws DataError when the trace cannot be written.
void merge_trace_parts(const std::filesystem::path& folder, const std::filesystem::path& path);

}  // namespace roentgen::train
