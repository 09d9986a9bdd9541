// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Resumes a run: rank 0 reads the resume file for all ranks, checks it against the job, and loads it. For the trainer
// only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "train/resume.h"

namespace roentgen::train {

class Schedule;
struct Recipe;
struct ServerOptions;
struct TrainJob;

/// Reads the resume file; nullopt for a fresh run. Rank 0 reads the tensors, the other ranks get only the state. All
/// ranks must call it. Throws ConfigError on rank 0 if the file is invalid or belongs to another run. Runs are compared
/// by recipe, labels, lists of images and images per update. Warns of another number of ranks or threads.
[[nodiscard]] std::optional<Resume> read_resume(const TrainJob& job, const CheckpointInfo& info);

/// Loads the result of read_resume(): weights, optimizer and averages on rank 0, the schedule on all ranks. Logs the
/// position in the run, and the results of changed_averages(), changed_updates() and changed_rates() if not empty.
/// Throws ConfigError as apply_resume() does.
void load_resume(const TrainJob& job, const Resume& resume, const RunMemory& memory, Schedule& schedule);

/// Returns a log line if several ranks averaged gradients in another way before the stop; else an empty text.
/// @param averages how they do so now (CommThread::way()); empty: one process
[[nodiscard]] std::string changed_averages(const RunState& state, std::string_view averages);

/// Returns a log line if the run had another update mode, number of servers or staleness before the stop; else an empty
/// text.
[[nodiscard]] std::string changed_updates(const RunState& state, const ServerOptions& servers);

/// Returns a log line if a changed train.epochs changes the learning rates from state.step on; else an empty text.
/// @param begun_toml recipe in the resume file
[[nodiscard]] std::string changed_rates(const Recipe& recipe, std::string_view begun_toml, const RunState& state,
                                        int ranks = 1);

}  // namespace roentgen::train
