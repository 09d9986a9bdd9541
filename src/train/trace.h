// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The trace of a run: the work of its ranks on one time axis, in one file (docs/reference/formats/trace.md).
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/timeline.h"
#include "core/value.h"
#include "dist/clock_offset.h"
#include "io/chrome_trace.h"
#include "train/ranks.h"
#include "train/run_folder.h"
#include "train/trace_options.h"
#include "train/trace_parts.h"

namespace roentgen::dist {
class CommThread;
}

namespace roentgen::train {

/// Traced ranks of so many, ascending.
[[nodiscard]] std::vector<int> traced_ranks(int ranks, std::int64_t most);
/// Whether the update is traced; updates are counted from 0 at this start.
[[nodiscard]] bool is_traced(std::int64_t update, const TraceOptions& options);

/// Reading of a rank's clock against rank 0's, at a time of the rank's clock.
struct ClockReading {
  std::int64_t at_ns = 0;
  dist::ClockOffset offset;
};

/// Records of a rank, in its own clock.
struct RankTrace {
  int rank = 0;
  std::string host;
  /// Spans; only their numbers are used.
  std::vector<Span> spans;
  /// Name of each span.
  std::vector<std::string> names;
  std::int64_t dropped = 0;
  ClockReading begin;
  ClockReading end;

  /// Converts a time of this rank's clock to rank 0's. Interpolates between two readings that differ by more than their
  /// errors; otherwise uses the more exact one.
  [[nodiscard]] std::int64_t to_first(std::int64_t ns) const;
};

/// Arguments of io::write_chrome_trace().
struct TraceParts {
  std::vector<io::TraceName> names;
  std::vector<io::TraceEvent> events;
  Value about;
};

/// Merges traces on one time axis, from the first span of all. A process is a rank. Its thread 0 is the training
/// thread; the others are collectives, as many as were in flight at once. A collective is divided into QUEUE
/// (requested, not started), WAIT_FOR_OTHER_TENSOR_DATA (not yet started by the last of these ranks) and MPI_ALLREDUCE.
/// These are Horovod's words.
[[nodiscard]] TraceParts merge_traces(const std::vector<RankTrace>& ranks);

/// Writes merge_traces() of these ranks, and `about` beside it. Throws DataError when it cannot be written.
void write_trace(const std::filesystem::path& path, const std::vector<RankTrace>& ranks, const Value& about);

/// Trace of one rank. One thread. CommError as dist::CommThread.
class Tracer {
 public:
  /// Measures the ranks' clocks: all ranks must make theirs together. From now on the group's averages are traced.
  /// @param group null: one process; must outlive this
  Tracer(const TraceOptions& options, dist::CommThread* group);
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  ~Tracer();

  /// Timeline that records this rank's work; null: the rank is not traced.
  [[nodiscard]] Timeline* timeline() { return is_traced_ ? &timeline_ : nullptr; }
  /// Must be called before and after every update.
  void begin_update();
  void end_update();
  /// Stores later records also in a file of each rank, for a run that fails; rank 0 merges the files when an exception
  /// destroys it. All ranks must call it together, once the folder exists.
  void keep_in(const RunFolder& folder);
  /// Writes the trace. All ranks must call it together; rank 0 writes, and removes the files of keep_in().
  void write(const std::filesystem::path& path);

 private:
  [[nodiscard]] std::vector<ClockReading> read_clocks() const;
  /// Ranks, hosts and clocks, without spans, on rank 0.
  [[nodiscard]] std::vector<RankTrace> clocks() const;
  [[nodiscard]] Value about() const;

  const TraceOptions options_;
  const Ranks ranks_;
  const std::vector<int> traced_;
  const bool is_traced_;
  Timeline timeline_;
  std::int64_t update_ = 0;
  /// Clocks of each rank in traced_, on rank 0.
  std::vector<ClockReading> begin_;
  std::optional<TracePart> part_;
  /// Run folder that keeps the parts, on rank 0.
  std::optional<RunFolder> kept_;
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace roentgen::train
