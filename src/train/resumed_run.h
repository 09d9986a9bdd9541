// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A run that goes on: its resume file is read by rank 0 for all, held against the job, and loaded. Of the trainer, not
// for others.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "train/resume.h"

namespace roentgen::train {

class Schedule;
struct Recipe;
struct TrainJob;

/// Reads the resume file on rank 0, without tensors for the others; nullopt for a fresh run. All ranks call it.
/// ConfigError on rank 0 when the file is none, or of another run: recipe, labels, lists of images, images of an
/// update. Warns of another number of ranks or threads.
/// @param info of the job (describe_run())
[[nodiscard]] std::optional<Resume> read_resume(const TrainJob& job, const CheckpointInfo& info);

/// Loads what read_resume() gave: on rank 0 weights, optimizer and averages, on all the schedule. Logs where the run
/// goes on and, as changed_rates(), what is different from there. ConfigError as apply_resume().
void load_resume(const TrainJob& job, const Resume& resume, const RunMemory& memory, Schedule& schedule);

/// Returns a line for the log when a changed train.epochs changes the rates from state.step on; else empty.
/// @param begun_toml the recipe in the resume file
[[nodiscard]] std::string changed_rates(const Recipe& recipe, std::string_view begun_toml, const RunState& state,
                                        int ranks = 1);

}  // namespace roentgen::train
