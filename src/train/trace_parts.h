// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Traces of failed runs: the records of each rank, in a separate file that is valid even if the rank is killed. In a
// successful run, ranks send the same lines to rank 0 (trace.h), with clocks measured at the end as well.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/timeline.h"
#include "core/value.h"

namespace roentgen::train {

struct RankTrace;

/// Converts this rank's spans, their names and the number of dropped spans to text for another rank.
[[nodiscard]] std::string to_bytes(const RankTrace& own);
/// Parses a text of to_bytes(). Throws CommError if it is invalid.
[[nodiscard]] RankTrace rank_trace_from(const std::string& bytes);

/// File with the spans of one rank, one line per span. Not movable. Not thread-safe.
class TracePart {
 public:
  /// Creates the file. If this fails, nothing is recorded, because a host may have no access to the run folder.
  TracePart(const std::filesystem::path& folder, int rank);
  TracePart(const TracePart&) = delete;
  TracePart& operator=(const TracePart&) = delete;
  ~TracePart();

  /// Appends a line and hands it to the system, which keeps it even if this process dies. Does nothing after a failure.
  void add(const Span& span);

 private:
  int file_ = -1;
};

/// Removes the trace parts of an earlier start and creates an empty folder. Only rank 0 may call it. Throws DataError
/// if the folder cannot be created.
/// @param about description to store in the trace
/// @param clocks ranks, hosts and their clock readings at the start
void begin_trace_parts(const std::filesystem::path& folder, const Value& about, const std::vector<RankTrace>& clocks);

/// Merges the existing trace parts into a trace and skips incomplete lines. Clocks of other hosts are converted by
/// their readings at the start. Keeps the parts. Does nothing if the folder does not exist. Throws DataError if the
/// trace cannot be written.
void merge_trace_parts(const std::filesystem::path& folder, const std::filesystem::path& path);

}  // namespace roentgen::train
