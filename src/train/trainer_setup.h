// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What train() does before its first step: checks, first weights, what checkpoints will say. Not for others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/stage/loader.h"
#include "train/checkpoint_info.h"
#include "train/recipe.h"
#include "train/resume.h"
#include "train/stepper.h"
#include "train/trainer.h"

namespace roentgen::data {
class ImageStore;
}

namespace roentgen::train {

/// ConfigError when the recipe, the data and the model do not fit together: no training images, an AUROC that will be
/// undefined, another number of labels or channels.
void check_job(const TrainJob& job);

/// "30 images of 12 patients, list 0123456789ab", or "no images".
[[nodiscard]] std::string split_text(const std::vector<SplitRecord>& splits, std::string_view name);

/// The metadata of this run's checkpoints; step, epoch and metric are left at 0.
[[nodiscard]] CheckpointInfo describe_run(const TrainJob& job);

/// First weights: drawn from the seed, then those of train.init, if any. Notes say what was done, a line each.
[[nodiscard]] std::vector<std::string> load_first_weights(const TrainJob& job, engine::Executable& executable);

/// ConfigError when the resume file is of another run: recipe, labels or training list.
void check_resume(const TrainJob& job, const Resume& resume);

/// Updates of an epoch, at least 1. ConfigError when train.accumulate asks for more batches than there are.
[[nodiscard]] std::int64_t updates_per_epoch(const TrainJob& job);

/// A line for the log when train.epochs is not what the run began with and the rates from state.step on are others for
/// it; else empty.
/// @param begun_toml the recipe in the resume file
[[nodiscard]] std::string changed_rates(const Recipe& recipe, std::string_view begun_toml, const RunState& state,
                                        int ranks = 1);

/// How the memory for input is shared out: train.memory_mb, or this rank's share of half of what is left.
struct InputMemory {
  /// Batches held by the training step: train.slots, or as many as there is room for.
  int slots = 2;
  /// Files that may be read ahead of the decoding threads.
  int readers = 0;
  /// For decoded images: what the rest of the budget and train.cache_mb allow.
  std::uint64_t cache_bytes = 0;
};
/// ConfigError as data::require_fits() when the pipeline does not fit, or when train.slots is 1. Logs who has how much.
[[nodiscard]] InputMemory plan_input_memory(const TrainJob& job);
/// Where the run keeps decoded images. Throws as DiskCache.
[[nodiscard]] std::unique_ptr<data::ImageStore> make_image_store(const TrainJob& job, std::uint64_t cache_bytes);
[[nodiscard]] StepperOptions stepper_options(const Recipe& recipe);
[[nodiscard]] data::LoaderOptions loader_options(const TrainJob& job, DType dtype);

/// What a run holds beside its input, as planned.
struct PlannedMemory {
  const engine::Executable& training;
  /// Null without validation.
  const engine::Executable* validation = nullptr;
  Optimizer& optimizer;
  bool has_ema = false;
};
/// A line for the log, before the first step: peak of memory and plan of a step; and who has which cores, where they
/// are shared out. Returns that peak in bytes.
[[nodiscard]] std::size_t log_step(const TrainRecipe& recipe, const PlannedMemory& memory);

/// The resume file, as rank 0 reads it, without tensors for the others; nothing for a fresh run.
[[nodiscard]] std::optional<Resume> read_resume(const TrainJob& job);

}  // namespace roentgen::train
