// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Recipe: everything a training run is asked for. Read from TOML, overridden by key=value, printed back resolved. Every
// key is declared once, in recipe_fields.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/value.h"
#include "data/source/dataset.h"
#include "data/stage/pipeline.h"
#include "data/transform/augment.h"
#include "data/transform/preprocess.h"
#include "runtime/core_list.h"

namespace roentgen::graph {
struct LossConfig;
}

namespace roentgen::train {

class FieldList;
struct OptimizerOptions;
struct ScheduleOptions;

/// [model]: which network. Words are models/model.h's; this room does not know them.
struct ModelRecipe {
  std::string name = "densenet121";
  /// Graph text to train instead of a named model; "" = none.
  std::string file;
  std::int64_t width = 64;
  std::string stem = "imagenet";
  std::string resnet = "v1.5";
  std::int64_t dilated_stages = 0;
  bool auxiliary = true;
};

/// [train]: the loop.
struct TrainRecipe {
  std::int64_t epochs = 10;
  std::int64_t batch = 32;
  std::string tail = "drop";
  std::string pipeline = "default";
  std::int64_t accumulate = 1;
  double clip_norm = 0.0;
  double ema = 0.0;
  std::int64_t seed = 0;
  std::string select = "auroc";
  std::int64_t early_stop = 0;
  std::int64_t workers = 0;
  std::int64_t threads = 0;
  std::string input_cores;
  std::int64_t slots = 3;
  std::int64_t memory_mb = 0;
  std::string cache = "memory";
  std::int64_t cache_mb = 1024;
  std::string cache_dir;
  std::int64_t cache_px = 0;
  double max_bad = 0.001;
  std::string init;
  std::string init_preset;
  bool partial = false;
  std::int64_t keep_best = 1;
  std::int64_t keep_last = 1;
  std::int64_t checkpoint_steps = 0;
  std::string engine = "cpu";
  std::string fuse = "on";
  std::string algorithms = "auto";
  std::string choices;
  std::string dtype = "f32";
  std::string recompute = "auto";
  double bucket_mb = 4.0;
  std::string batch_norm = "local";
};

/// [optimizer].
struct OptimizerRecipe {
  std::string name = "adam";
  double lr = 1e-4;
  double weight_decay = 0.0;
  bool decay_norm_and_bias = false;
  double momentum = 0.9;
  bool nesterov = false;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double trust = 1e-3;
  std::int64_t lr_batch = 0;
};

/// [schedule]. Times are epochs here, since that is how people think; the schedules themselves count steps.
struct ScheduleRecipe {
  std::string name = "cosine";
  double warmup_epochs = 0.0;
  double warmup_start = 0.1;
  std::vector<double> milestones_epochs;
  double gamma = 0.1;
  double final_share = 0.0;
  double power = 2.0;
  std::int64_t patience = 1;
  double min_delta = 1e-4;
};

/// [loss].
struct LossRecipe {
  std::string name = "sigmoid";
  std::string reduction = "mean_known";
  double label_smoothing = 0.0;
  std::string positive_weights = "none";
};

/// The whole. Plain value.
struct Recipe {
  ModelRecipe model;
  /// root is empty: the data folder is no part of a recipe.
  data::SourceOptions data;
  data::Preprocess preprocess;
  data::Augment augment;
  TrainRecipe train;
  OptimizerRecipe optimizer;
  ScheduleRecipe schedule;
  LossRecipe loss;
};

/// Reads a recipe from a table of sections; what is absent keeps its default. ConfigError naming `what`, the key, and
/// what it accepts; an unknown key is refused with the nearest known one.
[[nodiscard]] Recipe recipe_from_value(const Value& table, std::string_view what);
/// Reads a TOML file and applies "section.key=value" overrides in order. ConfigError naming the file, or the override
/// that brought the mistake as "--set section.key=value".
[[nodiscard]] Recipe read_recipe(const std::filesystem::path& path, std::span<const std::string> overrides);
/// As read_recipe, from text: of a checkpoint's metadata, say.
[[nodiscard]] Recipe parse_recipe(std::string_view toml, std::string_view what, std::span<const std::string> overrides);
/// Every key with its value.
[[nodiscard]] Value to_value(const Recipe& recipe);
/// to_value() as TOML: reading it gives the same recipe.
[[nodiscard]] std::string to_toml(const Recipe& recipe);
/// All keys with default, choices and meaning, as a commented TOML document.
[[nodiscard]] std::string recipe_keys();

/// Sections whose keys data declares, as it reads and prints them.
struct ForeignSections {
  Value data;
  Value preprocess;
  Value augment;
};
/// Every key of a recipe (recipe_fields.cpp). Both arguments must outlive the list.
[[nodiscard]] FieldList recipe_fields(Recipe& recipe, ForeignSections& foreign);

/// Compute threads that the recipe or OMP_NUM_THREADS asks for; 0: as many as there are cores for them.
[[nodiscard]] std::int64_t asked_threads(const TrainRecipe& recipe);
/// train.input_cores: decoding and computing share all cores.
inline constexpr std::string_view kSharedCores = "shared";
/// The same with kSharedCores: of commands that have no recipe.
[[nodiscard]] TrainRecipe sharing_cores(TrainRecipe recipe);
/// Cores that decoding and computing are bound to; both empty where they share all. Where the recipe says nothing, one
/// of several ranks that has its cores to itself keeps them apart as runtime::place(). ConfigError on a list that is
/// none, or that leaves no core to compute.
struct TrainCores {
  runtime::CoreList input;
  runtime::CoreList compute;
};
[[nodiscard]] TrainCores train_cores(const TrainRecipe& recipe);
/// Compute and decoding threads, with 0 in the recipe resolved to what the process may use, or to their own cores.
/// ConfigError for more compute threads than that; as train_cores().
[[nodiscard]] int compute_threads(const TrainRecipe& recipe);
[[nodiscard]] int decode_workers(const TrainRecipe& recipe);
/// Are decoded images kept on the disk: by train.cache, or a stage of train.pipeline? ConfigError where train.cache_px
/// is set and they are not.
[[nodiscard]] bool keeps_on_disk(const TrainRecipe& recipe);
/// The way of the training samples. ConfigError when its text is no pipeline, when it ends after one pass, or when
/// `tail` is set beside a pipeline that is not the default one.
[[nodiscard]] data::Pipeline training_pipeline(const TrainRecipe& recipe);
/// What [optimizer] asks make_optimizer() for.
[[nodiscard]] OptimizerOptions optimizer_options(const OptimizerRecipe& recipe, int threads);
/// What [schedule] asks make_schedule() for: epochs become steps, and with optimizer.lr_batch the rate grows with the
/// images of an update (linear scaling: Goyal et al. 2017, arXiv:1706.02677).
/// @param ranks each with batches of train.batch
[[nodiscard]] ScheduleOptions schedule_options(const Recipe& recipe, std::int64_t steps_per_epoch, int ranks = 1);
/// What [loss] asks with_loss() for. "balanced" positive weights are negatives / positives of the training split, kept
/// within 1/100 ... 100; 1 where a class is absent.
[[nodiscard]] graph::LossConfig loss_config(const LossRecipe& recipe, const data::SplitSummary& training);

}  // namespace roentgen::train
