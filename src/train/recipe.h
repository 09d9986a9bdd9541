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

/// Section [model]: the network. models/model.h checks the values; src/train does not know them.
struct ModelRecipe {
  std::string name = "densenet121";  ///< one of models::model_names()
  /// Graph file to train instead of a named model; "" for none.
  std::string file;
  std::int64_t width = 64;          ///< number of channels after the stem
  std::string stem = "imagenet";    ///< "imagenet" or "small"
  std::string resnet = "v1.5";      ///< "v1.5" or "v1": decides which convolution of a bottleneck has the stride
  std::int64_t dilated_stages = 0;  ///< number of last stages with dilated convolutions, 0 to 3
  bool auxiliary = true;            ///< whether to build auxiliary classifiers, where the model has them
};

/// Section [train]: the training loop.
struct TrainRecipe {
  std::int64_t epochs = 10;           ///< number of passes over the training images
  std::int64_t batch = 32;            ///< number of images per step on one rank
  std::string tail = "drop";          ///< handling of the last images if they fill no batch: "drop" or "wrap"
  std::string pipeline = "default";   ///< input pipeline: "default", another preset or stages separated by "|"
  std::int64_t accumulate = 1;        ///< number of batches per update
  double clip_norm = 0.0;             ///< largest global gradient norm; 0: no limit
  double ema = 0.0;                   ///< decay of the moving average of weights; 0: no average
  std::int64_t seed = 0;              ///< seed of all random numbers
  std::string select = "auroc";       ///< metric that selects the best epoch: "auroc" or "loss"
  std::int64_t early_stop = 0;        ///< epochs without improvement before training stops; 0: never stop
  std::int64_t workers = 0;           ///< number of decoding threads; 0: automatic
  std::int64_t threads = 0;           ///< number of compute threads; 0: see asked_threads()
  std::string input_cores;            ///< cores of the decoding threads: "0-1,4", kSharedCores or ""
  std::int64_t slots = 3;             ///< number of batches prefetched; 0: as many as memory_mb allows
  std::int64_t memory_mb = 0;         ///< MiB for all input buffers; 0: half of the free memory
  std::string cache = "memory";       ///< where decoded images are cached: "memory" or "disk"
  std::int64_t cache_mb = 1024;       ///< MiB of decoded images kept in memory
  std::string cache_dir;              ///< folder of the disk cache; "": the user's cache folder
  std::int64_t cache_px = 0;          ///< short side in pixels of images in the disk cache; 0: decoded size
  double max_bad = 0.001;             ///< largest tolerated share of unreadable images
  std::string init;                   ///< file of initial weights; "": random weights
  std::string init_preset;            ///< preprocessing preset for the init file, if it states none
  bool partial = false;               ///< whether to skip tensors of the init file that do not fit
  std::int64_t keep_best = 1;         ///< number of best epochs whose weights are kept
  std::int64_t keep_last = 1;         ///< number of resume files that are kept
  std::int64_t checkpoint_steps = 0;  ///< updates between two resume files; 0: one per epoch
  std::string device = "auto";        ///< "auto", "cpu", "cuda" or "cuda:N", for engine::make_engine()
  std::string fuse = "on";            ///< graph passes and fusions: "on", "off" or names
  std::string algorithms = "auto";    ///< choice of convolution kernels: "auto", "direct" or "heuristic"
  std::string choices;                ///< file of measured kernel choices (choice_file.h); "": none
  std::string dtype = "f32";          ///< type to compute in: "f32", "tf32", "bf16", "f16" or "auto"
  double loss_scale = 65536.0;        ///< f16: loss scale at the start; an overflow halves it
  std::int64_t loss_growth = 2000;    ///< f16: updates without overflow until the loss scale doubles
  std::string recompute = "auto";     ///< activations to recompute in backward: "auto", "none" or "all"
  double bucket_mb = 4.0;             ///< MiB of gradients per bucket, averaged at once; 0: "auto", tuned
  std::string batch_norm = "local";  ///< images for batch norm statistics: "local" (this rank's) or "sync" (all ranks')
};

/// Section [optimizer].
struct OptimizerRecipe {
  std::string name = "adam";         ///< name of the update rule, for optimizer_rule()
  double lr = 1e-4;                  ///< learning rate after warm-up
  double weight_decay = 0.0;         ///< weight decay of all weights except batch norms and biases
  bool decay_norm_and_bias = false;  ///< whether batch norms and biases get weight decay, too
  std::int64_t lr_batch = 0;         ///< images per update for which lr is meant, for linear scaling; 0: never scale lr
  engine::OptimizerRules rules;      ///< options of all rules; only those of the rule `name` are used
};

/// Section [schedule]. Times are in epochs here; the schedules themselves count steps.
struct ScheduleRecipe {
  std::string name = "cosine";            ///< name of the schedule, for make_schedule()
  double warmup_epochs = 0.0;             ///< number of epochs of linear warm-up
  double warmup_start = 0.1;              ///< learning rate at the start of the warm-up, as a share of lr
  std::vector<double> milestones_epochs;  ///< multistep: epochs after which the rate drops
  double gamma = 0.1;                     ///< multistep, plateau: factor of each drop
  double final_share = 0.0;               ///< cosine, poly, plateau: lowest rate, as a share of lr
  double power = 2.0;                     ///< poly: exponent
  std::int64_t patience = 1;              ///< plateau: validations without improvement before a drop
  double min_delta = 1e-4;                ///< plateau: smallest decrease of the loss that counts as an improvement
};

/// Section [loss].
struct LossRecipe {
  std::string name = "sigmoid";           ///< "sigmoid" or "softmax"
  std::string reduction = "mean_known";   ///< combination of loss terms: "mean_known", "mean_batch" or "sum"
  double label_smoothing = 0.0;           ///< softmax: probability that is spread over all classes
  std::string positive_weights = "none";  ///< sigmoid: weights of positive labels, "none" or "balanced"
};

/// All sections of a recipe. Plain value.
struct Recipe {
  ModelRecipe model;  ///< the network
  /// Section [data]. `root` is empty, because the data folder is not part of a recipe.
  data::SourceOptions data;
  data::Preprocess preprocess;  ///< defines how an image becomes the network's input
  data::Augment augment;        ///< random distortions in training
  TrainRecipe train;            ///< the training loop
  OptimizerRecipe optimizer;    ///< rule by which gradients change weights
  ScheduleRecipe schedule;      ///< learning rate over time
  LossRecipe loss;              ///< the loss that training minimises
};

/// Reads a recipe from a table of sections; missing keys keep their default. Throws ConfigError naming `what`, the key
/// and its allowed values. An unknown key is refused with the nearest known one.
[[nodiscard]] Recipe recipe_from_value(const Value& table, std::string_view what);
/// Reads a TOML file and applies "section.key=value" overrides in order. Throws ConfigError naming the file, or the
/// override with the mistake as "--set section.key=value".
[[nodiscard]] Recipe read_recipe(const std::filesystem::path& path, std::span<const std::string> overrides);
/// Reads a recipe from text, such as the metadata of a checkpoint. Overrides and errors are as in read_recipe().
[[nodiscard]] Recipe parse_recipe(std::string_view toml, std::string_view what, std::span<const std::string> overrides);
/// All keys with their values.
[[nodiscard]] Value to_value(const Recipe& recipe);
/// Returns the recipe as TOML; reading it gives the same recipe.
[[nodiscard]] std::string to_toml(const Recipe& recipe);
/// All keys with default, choices and meaning, as a commented TOML document.
[[nodiscard]] std::string recipe_keys();

/// Sections whose keys src/data declares, reads and prints.
struct ForeignSections {
  Value data;        ///< keys of [data]
  Value preprocess;  ///< keys of [preprocess]
  Value augment;     ///< keys of [augment]
};
/// Every key of a recipe (recipe_fields.cpp). Both arguments must outlive the list.
[[nodiscard]] FieldList recipe_fields(Recipe& recipe, ForeignSections& foreign);

/// Number of compute threads that the recipe or OMP_NUM_THREADS asks for; 0 for one per core.
[[nodiscard]] std::int64_t asked_threads(const TrainRecipe& recipe);
/// Value of train.input_cores that lets decoding and computing share all cores.
inline constexpr std::string_view kSharedCores = "shared";
/// Returns the recipe with input_cores = kSharedCores, for commands that have no recipe of their own.
[[nodiscard]] TrainRecipe sharing_cores(TrainRecipe recipe);
/// Cores for decoding and for computing; both lists are empty if decoding and computing share all cores. Without
/// train.input_cores, one of several ranks on a CPU divides its own cores by runtime::place(). Throws ConfigError if
/// the list is invalid or leaves no core to compute.
struct TrainCores {
  runtime::CoreList input;    ///< cores of the decoding threads
  runtime::CoreList compute;  ///< cores of the compute threads
};
/// Returns the cores that a recipe sets, as TrainCores describes them.
[[nodiscard]] TrainCores train_cores(const TrainRecipe& recipe);
/// Number of compute threads; 0 in the recipe means one per physical core for computing. Throws ConfigError if the
/// recipe asks for more threads than cores, and for invalid train.input_cores.
[[nodiscard]] int compute_threads(const TrainRecipe& recipe);
/// Number of decoding threads; 0 in the recipe means one per decoding core. Throws ConfigError for invalid
/// train.input_cores.
[[nodiscard]] int decode_workers(const TrainRecipe& recipe);
/// True if decoded images are cached on disk, by train.cache or by a stage of train.pipeline. Throws ConfigError if
/// train.cache_px is set without a disk cache.
[[nodiscard]] bool keeps_on_disk(const TrainRecipe& recipe);
/// Returns the pipeline of the training samples. Throws ConfigError if its text is invalid or if the pipeline ends
/// after one pass. Throws it also if `tail` is set together with a pipeline that is not the default one.
[[nodiscard]] data::Pipeline training_pipeline(const TrainRecipe& recipe);
/// Options of make_schedule() for [schedule], with epochs converted to steps. If optimizer.lr_batch is set, the rate is
/// proportional to the images per update (linear scaling: Goyal et al. 2017, arXiv:1706.02677).
/// @param ranks number of ranks; each has batches of train.batch images
[[nodiscard]] ScheduleOptions schedule_options(const Recipe& recipe, std::int64_t steps_per_epoch, int ranks = 1);
/// Options of with_loss() for [loss]. With "balanced", the weight of positive labels is negatives / positives in the
/// training split, limited to 1/100 ... 100. It is 1 if a label has no positives or no negatives.
[[nodiscard]] graph::LossConfig loss_config(const LossRecipe& recipe, const data::SplitSummary& training);

}  // namespace roentgen::train
