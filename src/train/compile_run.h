// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compiles the network of a run for training, with one plan on all ranks, and for validation.
#pragma once

#include <cstdint>
#include <memory>

#include "train/one_plan.h"

namespace roentgen {
class Timeline;
}
namespace roentgen::engine {
class Engine;
class Executable;
}  // namespace roentgen::engine
namespace roentgen::graph {
class Graph;
}

namespace roentgen::train {

struct Recipe;
struct TrainJob;

/// Compiled training network and its kernel plan.
struct CompiledTraining {
  std::unique_ptr<engine::Executable> executable;
  RunPlan plan;
};

/// Compiles the network for training on all ranks. Takes the kernel choices from `stored` if it has some for this
/// engine. Otherwise takes them from train.choices and the engine's own rule. Throws ConfigError on all ranks if their
/// plans differ, or if train.choices has no entry for this network.
/// @param stored plan of a resumed run; null for a fresh run
/// @param timeline records how long batch norms wait for other ranks; may be null
[[nodiscard]] CompiledTraining compile_training(const TrainJob& job, int slots, const RunPlan* stored,
                                                Timeline* timeline);
/// Compiles the network for inference on all ranks. Its loss is a mean over known labels.
[[nodiscard]] std::unique_ptr<engine::Executable> compile_validation(const TrainJob& job);

/// Returns the number of gradient buckets that parameter servers divide among them, if a run of this recipe starts on
/// this machine. Plans the training, without its memory. Throws like engine::Engine::plan().
[[nodiscard]] std::int64_t count_server_buckets(const Recipe& recipe, const graph::Graph& model,
                                                engine::Engine& engine);

/// Writes plan.json atomically: plan_hash, algorithms, choice_revision, measured_sha256, dtype, recompute, threads,
/// fuse and the tables of engine/plan_table.h. Rank 0 calls it once per start. The file is for people: a resumed run
/// reads its choices from the resume file instead. Throws DataError if it cannot be written.
void write_plan(const TrainJob& job, const engine::Executable& executable, const RunPlan& run);

}  // namespace roentgen::train
