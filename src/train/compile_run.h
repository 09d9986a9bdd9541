// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The executables of a run: the training form, by one plan on all ranks, and the one that validates.
#pragma once

#include <memory>

#include "train/one_plan.h"

namespace roentgen {
class Timeline;
}
namespace roentgen::engine {
class Executable;
}

namespace roentgen::train {

struct TrainJob;

/// The compiled training form and its plan.
struct CompiledTraining {
  std::unique_ptr<engine::Executable> executable;
  RunPlan plan;
};

/// Compiles the training form on all ranks. Choices of kernels come from `stored` if it has some of this engine, else
/// from train.choices and the rule. Throws ConfigError on all ranks when their plans differ, and when train.choices has
/// no entry for this network.
/// @param stored plan of a resumed run; null for a fresh one
/// @param timeline where waits of batch norms for other ranks are recorded; may be null
[[nodiscard]] CompiledTraining compile_training(const TrainJob& job, int slots, const RunPlan* stored,
                                                Timeline* timeline);
/// Compiles the inference form, its loss a mean over known labels, on all ranks.
[[nodiscard]] std::unique_ptr<engine::Executable> compile_validation(const TrainJob& job);

/// Writes plan.json, atomically: plan_hash, algorithms, choice_revision, measured_sha256, dtype, recompute, threads,
/// fuse and the tables of engine/plan_table.h. Once a start, by rank 0, for people: a resumed run reads its choices
/// from the resume file. DataError.
void write_plan(const TrainJob& job, const engine::Executable& executable, const RunPlan& run);

}  // namespace roentgen::train
