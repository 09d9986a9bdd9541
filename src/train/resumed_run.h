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
struct TrainJob;

/// Reads the resume file on rank 0, without tensors for the others; nullopt for a fresh run. All ranks must call it.
/// Throws ConfigError on rank 0 when the file is invalid, or of another run: recipe, labels, lists of images, images of
/// an update. Warns of another number of ranks or threads.
[[nodiscard]] std::optional<Resume> read_resume(const TrainJob& job, const CheckpointInfo& info);

/// Loads the result of read_resume(): on rank 0 weights, optimizer and averages, on all ranks the schedule. Logs the
/// position of the run and, as changed_rates(), changes from there on. Throws ConfigError as apply_resume().
void load_resume(const TrainJob& job, const Resume& resume, const RunMemory& memory, Schedule& schedule);

/// Returns a line for the log when a changed train.epochs changes the rates from state.step on; else empty.
/// @param begun_toml the recipe in the resume file
[[nodiscard]] std::string changed_rates(const Recipe& recipe, std::string_view begun_toml, const RunState& state,
                                        int ranks = 1);

}  // namespace roentgen::train
