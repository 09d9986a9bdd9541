// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Recipe: all settings of a training run. Read from TOML, overridden by key=value, printed with all defaults. Every key
// is declared once, in recipe_fields.cpp.
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
#include "engine/update/update_list.h"
#include "runtime/core_list.h"

namespace roentgen::graph {
struct LossConfig;
}

namespace roentgen::train {

class FieldList;
struct ScheduleOptions;

/// [model]: the network. models/model.h checks the words; this room does not know them.
struct ModelRecipe {
  std::string name = "densenet121";  ///< one of models::model_names()
  /// Graph text to train instead of a named model; "" = none.
  std::string file;
  std::int64_t width = 64;          ///< channels after the stem
  std::string stem = "imagenet";    ///< "imagenet" or "small"
  std::string resnet = "v1.5";      ///< "v1.5" or "v1": where a bottleneck strides
  std::int64_t dilated_stages = 0;  ///< last stages that dilate, 0 to 3
  bool auxiliary = true;            ///< whether to build auxiliary classifiers, where the model has them
};

/// [train]: the loop.
struct TrainRecipe {
  std::int64_t epochs = 10;           ///< passes over the training images
  std::int64_t batch = 32;            ///< images of a step on one rank
  std::string tail = "drop";          ///< images that fill no batch: "drop" or "wrap"
  std::string pipeline = "default";   ///< name or text of a data::Pipeline
  std::int64_t accumulate = 1;        ///< batches of an update
  double clip_norm = 0.0;             ///< largest global gradient norm; 0: no limit
  double ema = 0.0;                   ///< decay of the weights' moving average; 0: none
  std::int64_t seed = 0;              ///< root of all random streams
  std::string select = "auroc";       ///< figure that picks the best epoch: "auroc" or "loss"
  std::int64_t early_stop = 0;        ///< epochs without improvement; 0: never
  std::int64_t workers = 0;           ///< decoding threads; 0: chosen
  std::int64_t threads = 0;           ///< compute threads; 0: as asked_threads() says
  std::string input_cores;            ///< cores of the decoding threads: "0-1,4", kSharedCores or ""
  std::int64_t slots = 3;             ///< batches kept ahead; 0: all that memory_mb allows
  std::int64_t memory_mb = 0;         ///< MiB for all input; 0: half of the free memory
  std::string cache = "memory";       ///< decoded images: "memory" or "disk"
  std::int64_t cache_mb = 1024;       ///< MiB of decoded images in memory
  std::string cache_dir;              ///< folder of cache = "disk"; "": the user's cache folder
  std::int64_t cache_px = 0;          ///< short side of images kept on the disk; 0: decoded size
  double max_bad = 0.001;             ///< share of unreadable images that is tolerated
  std::string init;                   ///< weights file to start from; "": at random
  std::string init_preset;            ///< preprocessing of the init file, if it states none
  bool partial = false;               ///< treatment of init tensors that do not fit
  std::int64_t keep_best = 1;         ///< best epochs whose weights are kept
  std::int64_t keep_last = 1;         ///< resume files that are kept
  std::int64_t checkpoint_steps = 0;  ///< updates between resume files; 0: an epoch
  std::string device = "auto";        ///< device for engine::make_engine()
  std::string fuse = "on";            ///< engine::CompileOptions::fuse
  std::string algorithms = "auto";    ///< engine::CompileOptions::algorithms
  std::string choices;                ///< file of measured choices (choice_file.h); "": none
  std::string dtype = "f32";          ///< engine::CompileOptions::dtype
  double loss_scale = 65536.0;        ///< engine::LossScaling::start
  std::int64_t loss_growth = 2000;    ///< engine::LossScaling::growth_updates
  std::string recompute = "auto";     ///< engine::CompileOptions::recompute
  double bucket_mb = 4.0;             ///< MiB of gradients that are averaged together
  std::string batch_norm = "local";   ///< statistics: "local" or "sync", of all ranks
};

/// [optimizer].
struct OptimizerRecipe {
  std::string name = "adam";         ///< name for optimizer_rule()
  double lr = 1e-4;                  ///< learning rate after warm-up
  double weight_decay = 0.0;         ///< weight decay of weights
  bool decay_norm_and_bias = false;  ///< weight decay also of batch norms and biases
  std::int64_t lr_batch = 0;         ///< images of an update that lr refers to; 0: any number
  engine::OptimizerRules rules;      ///< options of all rules; only those of rule `name` count
};

/// [schedule]. Times are in epochs here; the schedules themselves count steps.
struct ScheduleRecipe {
  std::string name = "cosine";            ///< name for make_schedule()
  double warmup_epochs = 0.0;             ///< epochs of linear warm-up
  double warmup_start = 0.1;              ///< share of lr at which it starts
  std::vector<double> milestones_epochs;  ///< multistep: epochs of the drops
  double gamma = 0.1;                     ///< multistep, plateau: factor of a drop
  double final_share = 0.0;               ///< cosine, poly, plateau: lowest rate as a share of lr
  double power = 2.0;                     ///< poly: exponent
  std::int64_t patience = 1;              ///< plateau: validations without improvement
  double min_delta = 1e-4;                ///< plateau: least change of the loss
};

/// [loss].
struct LossRecipe {
  std::string name = "sigmoid";           ///< "sigmoid" or "softmax"
  std::string reduction = "mean_known";   ///< "mean_known", "mean_batch" or "sum"
  double label_smoothing = 0.0;           ///< softmax: share spread over all classes
  std::string positive_weights = "none";  ///< sigmoid: "none" or "balanced"
};

/// All sections. Plain value.
struct Recipe {
  ModelRecipe model;  ///< the network
  /// root is empty: the data folder is no part of a recipe.
  data::SourceOptions data;
  data::Preprocess preprocess;  ///< definition of the network's input
  data::Augment augment;        ///< random distortions in training
  TrainRecipe train;            ///< the loop
  OptimizerRecipe optimizer;    ///< rule by which gradients change weights
  ScheduleRecipe schedule;      ///< learning rate over time
  LossRecipe loss;              ///< the loss that is minimised
};

/// Reads a recipe from a table of sections; missing keys keep their default. Throws ConfigError naming `what`, the key,
/// and its allowed values. An unknown key is refused with the nearest known one.
[[nodiscard]] Recipe recipe_from_value(const Value& table, std::string_view what);
/// Reads a TOML file and applies "section.key=value" overrides in order. ConfigError naming the file, or the override
/// that brought the mistake as "--set section.key=value".
[[nodiscard]] Recipe read_recipe(const std::filesystem::path& path, std::span<const std::string> overrides);
/// Reads a recipe from text, such as a checkpoint's metadata; overrides and errors as in read_recipe().
[[nodiscard]] Recipe parse_recipe(std::string_view toml, std::string_view what, std::span<const std::string> overrides);
/// All keys with their values.
[[nodiscard]] Value to_value(const Recipe& recipe);
/// to_value() as TOML: reading it gives the same recipe.
[[nodiscard]] std::string to_toml(const Recipe& recipe);
/// All keys with default, choices and meaning, as a commented TOML document.
[[nodiscard]] std::string recipe_keys();

/// Sections whose keys data declares, as it reads and prints them.
struct ForeignSections {
  Value data;        ///< keys of [data]
  Value preprocess;  ///< keys of [preprocess]
  Value augment;     ///< keys of [augment]
};
/// Every key of a recipe (recipe_fields.cpp). Both arguments must outlive the list.
[[nodiscard]] FieldList recipe_fields(Recipe& recipe, ForeignSections& foreign);

/// Compute threads that the recipe or OMP_NUM_THREADS asks for; 0: as many as there are cores for them.
[[nodiscard]] std::int64_t asked_threads(const TrainRecipe& recipe);
/// Value of train.input_cores for decoding and computing on all cores.
inline constexpr std::string_view kSharedCores = "shared";
/// The recipe with input_cores = kSharedCores, for commands that have no recipe.
[[nodiscard]] TrainRecipe sharing_cores(TrainRecipe recipe);
/// Cores for decoding and for computing; both empty where they share all. Where the recipe says nothing, one of several
/// ranks with cores of its own separates them as runtime::place(). Throws ConfigError on an invalid list, or one that
/// leaves no core to compute.
struct TrainCores {
  runtime::CoreList input;    ///< cores of decoding
  runtime::CoreList compute;  ///< cores of computing
};
/// Cores of a recipe, as TrainCores describes them.
[[nodiscard]] TrainCores train_cores(const TrainRecipe& recipe);
/// Numbers of compute and decoding threads, with 0 in the recipe replaced by the number of their cores. Throws
/// ConfigError for more compute threads than cores, and as train_cores().
[[nodiscard]] int compute_threads(const TrainRecipe& recipe);
/// Decoding threads, with 0 replaced by the number of their cores. ConfigError as train_cores().
[[nodiscard]] int decode_workers(const TrainRecipe& recipe);
/// Whether decoded images are kept on the disk: by train.cache, or by a stage of train.pipeline. ConfigError where
/// train.cache_px is set and they are not.
[[nodiscard]] bool keeps_on_disk(const TrainRecipe& recipe);
/// Pipeline of the training samples. Throws ConfigError when its text is no pipeline, or when it ends after one
/// pass. Throws it also when `tail` is set together with a pipeline that is not the default one.
[[nodiscard]] data::Pipeline training_pipeline(const TrainRecipe& recipe);
/// Options of make_schedule() by [schedule]. Epochs become steps. With optimizer.lr_batch the rate grows with the
/// images of an update (linear scaling: Goyal et al. 2017, arXiv:1706.02677).
/// @param ranks number of ranks, each with batches of train.batch
[[nodiscard]] ScheduleOptions schedule_options(const Recipe& recipe, std::int64_t steps_per_epoch, int ranks = 1);
/// Options of with_loss() by [loss]. "balanced" positive weights are negatives / positives of the training split, kept
/// within 1/100 ... 100; 1 where a class is absent.
[[nodiscard]] graph::LossConfig loss_config(const LossRecipe& recipe, const data::SplitSummary& training);

}  // namespace roentgen::train
