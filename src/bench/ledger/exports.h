// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Copies of a benchmark record in formats of other programs.
#pragma once

#include <filesystem>
#include <string>

#include "core/value.h"

namespace roentgen::bench {

/// Returns the record as lines of MLPerf's logging format (":::MLLOG {...}"): submission_benchmark, global_batch_size,
/// run_start, tracked_stats with the main figures, run_stop. The lines describe a measurement, not an MLPerf
/// submission.
[[nodiscard]] std::string mlperf_log(const Value& record);

/// Returns the record with settings, figures and samples in tables of their own, for other programs. It is a table
/// {id, case, date, begin_s, commit, host, cpu, command, settings, figures, samples}. The id is a hash of the content,
/// `begin_s` the begin of the case in seconds since 1970. The last three are tables by name, `samples` of arrays.
[[nodiscard]] Value plain_record(const Value& record);

/// Adds the record as a run to an MLflow file store. Settings become parameters, main figures and raw samples metrics.
/// Commit, host and command become tags, and the record itself an artifact. The runs belong to the experiment
/// roentgen-bench, which is created if absent. Returns the run's folder. Throws DataError if a file cannot be written.
std::filesystem::path write_mlflow_run(const Value& record, const std::filesystem::path& store);

}  // namespace roentgen::bench
