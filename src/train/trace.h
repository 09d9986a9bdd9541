// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Trace of a run: the work of all traced ranks on one time axis, in one file (docs/reference/formats/trace.md).
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

/// Returns the numbers of the traced ranks, ascending: at most `most` of `ranks` ranks.
[[nodiscard]] std::vector<int> traced_ranks(int ranks, std::int64_t most);
/// Returns true if the update is traced. Updates are counted from 0 since the start of the process.
[[nodiscard]] bool is_traced(std::int64_t update, const TraceOptions& options);

/// Difference between a rank's clock and rank 0's, measured at one moment.
struct ClockReading {
  std::int64_t at_ns = 0;
  dist::ClockOffset offset;
};

/// Trace of one rank, in times of its own clock.
struct RankTrace {
  int rank = 0;
  std::string host;
  /// Recorded spans; their names are in `names`, by number.
  std::vector<Span> spans;
  /// Name of each span.
  std::vector<std::string> names;
  std::int64_t dropped = 0;
  ClockReading begin;
  ClockReading end;

  /// Converts a time of this rank's clock to rank 0's clock. Interpolates between the two readings if they differ by
  /// more than their errors; otherwise uses the more exact reading.
  [[nodiscard]] std::int64_t to_first(std::int64_t ns) const;
};

/// Arguments of io::write_chrome_trace().
struct TraceParts {
  std::vector<io::TraceName> names;
  std::vector<io::TraceEvent> events;
  Value about;
};

/// Merges the traces of ranks on one time axis, which starts at the first span. A rank is shown as a process. Its
/// thread 0 is the training thread; further threads show collectives, one thread for each that was in flight at once. A
/// collective is divided into QUEUE (requested, not started), WAIT_FOR_OTHER_TENSOR_DATA (waiting for the last of these
/// ranks to start it) and MPI_ALLREDUCE. The names are Horovod's.
[[nodiscard]] TraceParts merge_traces(const std::vector<RankTrace>& ranks);

/// Writes merge_traces() of these ranks, with the description `about`. Throws DataError if the file cannot be written.
void write_trace(const std::filesystem::path& path, const std::vector<RankTrace>& ranks, const Value& about);

/// Records the trace of one rank. Not thread-safe. Throws CommError as dist::CommThread does.
class Tracer {
 public:
  /// Measures the ranks' clocks; all ranks must construct their tracers together. From then on, the averages of `group`
  /// are traced.
  /// @param group communicator, which must outlive this object; null for one process
  Tracer(const TraceOptions& options, dist::CommThread* group);
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  ~Tracer();

  /// Timeline for the work of this rank in a traced update; null if the rank is not traced.
  [[nodiscard]] Timeline* timeline() { return is_traced_ ? &timeline_ : nullptr; }
  /// Must be called before every update; end_update() must be called after it.
  void begin_update();
  void end_update();
  /// Writes later records also to a file per rank, so that a failed run has a trace, too. If an exception destroys the
  /// tracer, rank 0 merges these files. All ranks must call it together, after the folder was created.
  void keep_in(const RunFolder& folder);
  /// Writes the trace and removes the files of keep_in(). All ranks must call it together; rank 0 writes.
  void write(const std::filesystem::path& path);

 private:
  [[nodiscard]] std::vector<ClockReading> read_clocks() const;
  /// Returns ranks, hosts and clock readings of all ranks, without spans. Only rank 0 gets the result.
  [[nodiscard]] std::vector<RankTrace> clocks() const;
  [[nodiscard]] Value about() const;

  const TraceOptions options_;
  const Ranks ranks_;
  const std::vector<int> traced_;
  const bool is_traced_;
  Timeline timeline_;
  std::int64_t update_ = 0;
  /// Clock readings of the ranks in traced_ at the start; only on rank 0.
  std::vector<ClockReading> begin_;
  std::optional<TracePart> part_;
  /// Run folder that contains the files of keep_in(); only on rank 0.
  std::optional<RunFolder> kept_;
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace roentgen::train
