// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Table of all recipe keys: name, type, accepted values and meaning. A new key needs a field in recipe.h and a line
// here.
#include <tuple>

#include "data/source/options.h"
#include "graph/loss.h"
#include "train/field.h"
#include "train/optimizer/optimizer.h"
#include "train/recipe.h"
#include "train/schedule/schedule.h"
#include "train/schedule/schedule_list.h"

namespace roentgen::train {
namespace {

constexpr Range kCount{.low = 0, .high = 1e9};
constexpr Range kPositive{.low = 1, .high = 1e9};
constexpr Range kShare{.low = 0, .high = 1};
constexpr Range kNotNegative{.low = 0};
constexpr Range kBelowOne{.low = 0, .high = 1, .is_below_high = true};
constexpr Range kFactor{.low = 0, .high = 1, .is_above_low = true, .is_below_high = true};
constexpr Range kWidth{.low = 8, .high = 4096};

void add_model(ModelRecipe& model, FieldList& fields) {
  fields.section("model", "network");
  fields.text("name", model.name, {},
              "built-in network: resnet18/34/50/101/152, densenet121/169/201, vgg16/19(_bn), googlenet, inception_v3, "
              "inception_v4");
  fields.text("file", model.file, {}, "graph text to train instead of a built-in network; empty: use name");
  fields.integer("width", model.width, kWidth, "channels after the stem, a multiple of 8; 64 as in torchvision");
  fields.text("stem", model.stem, {"imagenet", "small"},
              "first layers: imagenet, or small (3x3 without pooling, for small images)");
  fields.text("resnet", model.resnet, {"v1.5", "v1"},
              "position of the stride in a bottleneck: v1.5 (torchvision) in the 3x3 convolution, v1 in the first 1x1");
  fields.integer("dilated_stages", model.dilated_stages, {.low = 0, .high = 3},
                 "number of last stages with dilation instead of stride: finer heat-maps, more computation");
  fields.flag("auxiliary", model.auxiliary,
              "train GoogLeNet and Inception-v3 with auxiliary classifiers; inference omits them");
}

void add_loop(TrainRecipe& train, FieldList& fields) {
  fields.integer("epochs", train.epochs, kPositive, "passes over the training images");
  fields.integer("batch", train.batch, kPositive, "images per step of each rank (process)");
  fields.text("tail", train.tail, {"drop", "wrap"},
              "last images of an epoch, if they fill no batch: drop them, or wrap (add the first images again)");
  fields.text("pipeline", train.pipeline, {},
              "input pipeline: default, tf-official, naive, or stages: \"samples | shuffle | ...\"");
  fields.integer("accumulate", train.accumulate, {.low = 1, .high = 65536},
                 "batches per update; they count as one batch with all their images");
  fields.number("clip_norm", train.clip_norm, kNotNegative, "largest L2 norm of the whole gradient; 0: no clipping");
  fields.number("ema", train.ema, kBelowOne,
                "decay of the moving average of weights that is evaluated and saved; 0: no average");
  fields.integer("seed", train.seed, kCount, "seed of all random numbers");
  fields.text("select", train.select, {"auroc", "loss"},
              "validation metric that selects the best epoch: mean AUROC or loss");
  fields.integer("early_stop", train.early_stop, kCount,
                 "epochs without improvement after which training stops; 0: never");
}

void add_input(TrainRecipe& train, FieldList& fields) {
  fields.integer("workers", train.workers, {.low = 0, .high = 1024}, "decoding threads; 0: automatic");
  fields.integer("threads", train.threads, {.low = 0, .high = 4096}, "compute threads; 0: all cores");
  fields.text("input_cores", train.input_cores, {},
              "CPU cores that decode images, such as 0-1,4; the other cores compute. shared: all cores do both. Empty: "
              "shared, or an automatic division among several ranks");
  fields.integer("slots", train.slots, {.low = 0, .high = 64},
                 "batches prepared ahead of the step; 0: up to 8, limited by memory_mb");
  fields.integer("memory_mb", train.memory_mb, kCount,
                 "memory of a rank for batches, threads, buffers and its part of cache_mb, MiB; 0: half of the free "
                 "memory of machine or job");
  fields.text("cache", train.cache, {"memory", "disk"},
              "cache of decoded images: memory (for this run), or disk (also for later runs)");
  fields.integer("cache_mb", train.cache_mb, kCount, "size of the cache in memory, MiB; the ranks of a node share it");
  fields.text("cache_dir", train.cache_dir, {},
              "folder of the disk cache; empty: $XDG_CACHE_HOME/roentgen or ~/.cache/roentgen");
  fields.integer("cache_px", train.cache_px, {.low = 0, .high = 16384},
                 "disk cache: short side of stored training images, px; crops are cut from them; 0: size as decoded");
  fields.number("max_bad", train.max_bad, kShare, "largest share of unreadable images that is accepted");
}

void add_weights(TrainRecipe& train, FieldList& fields) {
  fields.text("init", train.init, {}, "initial weights: safetensors, .pt, .pth or .ckpt; empty: random");
  fields.text("init_preset", train.init_preset, {},
              "preprocessing that the init weights were trained with, if their file does not say; empty: unknown");
  fields.flag("partial", train.partial, "load only the tensors of init that match, instead of refusing the file");
  fields.integer("keep_best", train.keep_best, {.low = 1, .high = 1000}, "number of best checkpoints to keep");
  fields.integer("keep_last", train.keep_last, {.low = 1, .high = 1000}, "number of resume files to keep");
  fields.integer("checkpoint_steps", train.checkpoint_steps, kCount, "updates between resume files; 0: one per epoch");
}

void add_computing(TrainRecipe& train, FieldList& fields) {
  fields.text("device", train.device, {}, "device: auto (the best one available), cpu, cuda or cuda:N");
  fields.text("fuse", train.fuse, {},
              "graph passes and fusions: on, off, names, or on,-NAME (all but NAME); results are equal up to rounding");
  fields.text("algorithms", train.algorithms, {"auto", "direct", "heuristic"},
              "convolution kernels: auto (fastest per layer, by a fixed rule; on CUDA timed once per card), direct, or "
              "heuristic (auto without timing)");
  fields.text("choices", train.choices, {},
              "file written by roentgen bench choose --write: measured kernels replace the default ones; empty: none");
  fields.text(
      "dtype", train.dtype, {"f32", "tf32", "bf16", "f16", "auto"},
      "number type of activations and products: f32; tf32 (f32 with product factors rounded to 10 bits, also in "
      "validation; CUDA only); bf16 (half the memory, fewer digits, faster with Intel AMX or AVX-512 BF16); "
      "f16 (CUDA only); auto: bf16 if the hardware supports it, else f32");
  fields.number("loss_scale", train.loss_scale, {.low = 1, .high = 1e30},
                "dtype=f16: initial loss scale; an overflow skips the update and halves it");
  fields.integer("loss_scale_growth", train.loss_growth, {.low = 1, .high = 1'000'000'000},
                 "dtype=f16: updates without overflow after which the loss scale doubles");
  fields.text("recompute", train.recompute, {"auto", "none", "all"},
              "activations that backward recomputes to save memory: auto (if that costs no time), none, all (all cheap "
              "ones); results are identical");
  fields.number_or("auto", "bucket_mb", train.bucket_mb, {.low = 0.01, .high = 1024},
                   "size of a gradient bucket, MiB; ranks exchange buckets during backward; auto: the fastest size, "
                   "tried in the first updates if results do not depend on it");
  fields.text("batch_norm", train.batch_norm, {"local", "sync"},
              "batch norm statistics: over the images of each rank (local), or of all ranks, which then wait in every "
              "layer (sync)");
}

void add_train(TrainRecipe& train, FieldList& fields) {
  fields.section("train", "training loop");
  add_loop(train, fields);
  add_input(train, fields);
  add_weights(train, fields);
  add_computing(train, fields);
}

/// Recipe keys of the options of update rules. Several rules may share a key, which then sets the option of each.
class RuleKeys {
 public:
  RuleKeys(std::string_view optimizer, FieldList& fields) : optimizer_(optimizer), fields_(fields) {}
  void operator()(std::string_view name, double& value, const Range& range, std::string_view meaning) const {
    if (!fields_.share(name, &value, optimizer_)) fields_.number(name, value, range, doc(meaning));
  }
  void operator()(std::string_view name, bool& value, std::string_view meaning) const {
    if (!fields_.share(name, &value, optimizer_)) fields_.flag(name, value, doc(meaning));
  }

 private:
  [[nodiscard]] std::string doc(std::string_view meaning) const {
    return std::string(optimizer_) + (meaning.empty() ? "" : ": ") + std::string(meaning);
  }
  std::string_view optimizer_;
  FieldList& fields_;
};

template <typename Rule>
void add_rule(Rule& rule, FieldList& fields) {
  Rule::visit_options(rule, RuleKeys(Rule::kNames[0].name, fields));
}

void add_optimizer(OptimizerRecipe& optimizer, FieldList& fields) {
  fields.section("optimizer", "weight update");
  fields.text("name", optimizer.name, optimizer_names(), optimizer_meanings());
  fields.number("lr", optimizer.lr, {.low = 1e-12, .high = 1e6}, "learning rate after warm-up");
  fields.integer("lr_batch", optimizer.lr_batch, kCount,
                 "images per update, over all ranks, that lr is meant for; with other numbers lr scales in proportion; "
                 "0: no scaling");
  fields.number("weight_decay", optimizer.weight_decay, kNotNegative,
                "weight decay, added to the gradient unless the optimizer differs (see name); 0: none");
  fields.flag("decay_norm_and_bias", optimizer.decay_norm_and_bias,
              "apply weight decay to batch norms and biases, too");
  std::apply([&](auto&... rules) { (add_rule(rules, fields), ...); }, optimizer.rules);
}

void add_schedule(ScheduleRecipe& schedule, FieldList& fields) {
  fields.section("schedule", "learning rate over time");
  fields.text("name", schedule.name, schedule_names(),
              "schedule of the learning rate; plot it with roentgen schedule --print");
  fields.number("warmup_epochs", schedule.warmup_epochs, kNotNegative,
                "epochs of linear warm-up, fractions allowed; 0: none");
  fields.number("warmup_start", schedule.warmup_start, {.low = 1e-9, .high = 1},
                "learning rate at the start of warm-up, as a share of lr");
  fields.numbers("milestones_epochs", schedule.milestones_epochs, kNotNegative,
                 "multistep: epochs at which the learning rate drops");
  fields.number("gamma", schedule.gamma, kFactor, "multistep, plateau: factor of each drop");
  fields.number("final_share", schedule.final_share, kShare,
                "cosine, poly, plateau: lowest learning rate, as a share of lr");
  fields.number("power", schedule.power, {.low = 0, .is_above_low = true}, "poly: exponent");
  fields.integer("patience", schedule.patience, kCount,
                 "plateau: validations without improvement that are tolerated before a drop");
  fields.number("min_delta", schedule.min_delta, kNotNegative,
                "plateau: smallest decrease of the loss that counts as an improvement");
}

void add_loss(LossRecipe& loss, FieldList& fields) {
  fields.section("loss", "loss function");
  fields.text("name", loss.name, {"sigmoid", "softmax"}, "sigmoid: independent labels; softmax: exclusive classes");
  fields.text("reduction", loss.reduction, {"mean_known", "mean_batch", "sum"},
              "divisor of the sum of terms: known labels (mean_known), images (mean_batch), or 1 (sum)");
  fields.number("label_smoothing", loss.label_smoothing, {.low = 0, .high = 0.999},
                "softmax: label smoothing; 0: none");
  fields.text("positive_weights", loss.positive_weights, {"none", "balanced"},
              "sigmoid: weights of positive labels: none, or balanced (negatives / positives of each label)");
}

}  // namespace

FieldList recipe_fields(Recipe& recipe, ForeignSections& foreign) {
  FieldList fields;
  add_model(recipe.model, fields);
  fields.foreign("data", foreign.data, {data::kSourceKeys.begin(), data::kSourceKeys.end()},
                 "images, labels and splits");
  fields.foreign("preprocess", foreign.preprocess, {}, "from image file to network input; stored in the checkpoint");
  fields.foreign("augment", foreign.augment, {}, "random changes of training images");
  add_train(recipe.train, fields);
  add_optimizer(recipe.optimizer, fields);
  add_schedule(recipe.schedule, fields);
  add_loss(recipe.loss, fields);
  return fields;
}

}  // namespace roentgen::train
