// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one table of recipe keys: name, type, accepted values, meaning. A new key: a field in recipe.h and a line here.
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
  fields.section("model", "which network");
  fields.text("name", model.name, {},
              "resnet18/34/50/101/152, densenet121/169/201, vgg16/19(_bn), googlenet, inception_v3, inception_v4");
  fields.text("file", model.file, {}, "graph text to train instead; empty = the named model");
  fields.integer("width", model.width, kWidth, "channels after the stem, a multiple of 8; 64 = torchvision's");
  fields.text("stem", model.stem, {"imagenet", "small"}, "small = 3x3 without pooling, for little images");
  fields.text("resnet", model.resnet, {"v1.5", "v1"}, "where a bottleneck strides; v1.5 = torchvision's");
  fields.integer("dilated_stages", model.dilated_stages, {.low = 0, .high = 3},
                 "last stages that dilate instead of halving the image: finer heat-maps, more arithmetic");
  fields.flag("auxiliary", model.auxiliary, "GoogLeNet's and Inception-v3's auxiliary classifiers, in training only");
}

void add_train(TrainRecipe& train, FieldList& fields) {
  fields.section("train", "the loop");
  fields.integer("epochs", train.epochs, kPositive, "passes over the training images");
  fields.integer("batch", train.batch, kPositive, "images a step");
  fields.text("tail", train.tail, {"drop", "wrap"}, "images that fill no whole batch: left out, or filled up");
  fields.text("pipeline", train.pipeline, {}, "default, tf-official, naive, or stages: \"samples | shuffle | ...\"");
  fields.integer("accumulate", train.accumulate, {.low = 1, .high = 65536}, "batches to an update; their mean counts");
  fields.number("clip_norm", train.clip_norm, kNotNegative, "largest global gradient norm; 0 = no limit");
  fields.number("ema", train.ema, kBelowOne, "evaluate and keep the weights' moving average of this decay; 0 = none");
  fields.integer("seed", train.seed, kCount, "root of all random streams");
  fields.text("select", train.select, {"auroc", "loss"}, "which validation figure picks the best epoch");
  fields.integer("early_stop", train.early_stop, kCount, "stop after so many epochs without improvement; 0 = never");
  fields.integer("workers", train.workers, {.low = 0, .high = 1024}, "decoding threads; 0 = chosen");
  fields.integer("threads", train.threads, {.low = 0, .high = 4096}, "compute threads; 0 = all cores");
  fields.text(
      "input_cores", train.input_cores, {},
      "cores of the decoding threads, as 0-1,4, the rest computes; shared = both have all; empty = shared, of several "
      "ranks some where there are enough");
  fields.integer("slots", train.slots, {.low = 0, .high = 64},
                 "batches kept ahead of the step; 0 = up to 8, as memory_mb allows");
  fields.integer(
      "memory_mb", train.memory_mb, kCount,
      "MiB for batches, threads, buffers and cache_mb together; 0 = half of what the machine or the job has left");
  fields.text("cache", train.cache, {"memory", "disk"},
              "where decoded images are kept between epochs; disk: between runs");
  fields.integer("cache_mb", train.cache_mb, kCount, "decoded images kept in memory between epochs, MiB");
  fields.text("cache_dir", train.cache_dir, {},
              "folder of cache=disk; empty = $XDG_CACHE_HOME/roentgen or ~/.cache/roentgen");
  fields.integer("cache_px", train.cache_px, {.low = 0, .high = 16384},
                 "cache=disk: short side of kept training images, which crops are then cut from; 0 = as decoded");
  fields.number("max_bad", train.max_bad, kShare, "share of unreadable images that is tolerated");
  fields.text("init", train.init, {}, "weights to start from: safetensors, .pt, .pth or .ckpt; empty = at random");
  fields.text("init_preset", train.init_preset, {},
              "preprocessing the init weights were trained with, when the file is mute");
  fields.flag("partial", train.partial, "load of init what fits, instead of refusing");
  fields.integer("keep_best", train.keep_best, {.low = 1, .high = 1000}, "best epochs whose weights are kept");
  fields.integer("keep_last", train.keep_last, {.low = 1, .high = 1000}, "resume files that are kept");
  fields.integer("checkpoint_steps", train.checkpoint_steps, kCount,
                 "resume file every so many updates; 0 = every epoch");
  fields.text("device", train.device, {}, "what computes: auto (the best that there is), cpu, cuda or cuda:N");
  fields.text("fuse", train.fuse, {}, "passes and fusions: on, off, names or on,-NAME; results move within rounding");
  fields.text("algorithms", train.algorithms, {"auto", "direct", "heuristic"},
              "convolutions: per layer the faster of direct and our own, by a rule, or on cuda the fastest plan, timed "
              "once a card; direct; heuristic: auto, but nothing is timed");
  fields.text(
      "choices", train.choices, {},
      "file of roentgen bench choose --write: measured kernels of training that are taken instead of the rule's");
  fields.text(
      "dtype", train.dtype, {"f32", "bf16", "f16", "auto"},
      "activations and their products: f32; bf16, with fewer digits, half the memory and, with Intel AMX, half the "
      "time (AVX-512 BF16: 0.7 to 0.9); f16, on CUDA devices; auto: bf16 where the machine multiplies it");
  fields.number("loss_scale", train.loss_scale, {.low = 1, .high = 1e30},
                "dtype=f16: first factor of the loss's gradient; an overflow skips the update and halves it");
  fields.integer("loss_scale_growth", train.loss_growth, {.low = 1, .high = 1'000'000'000},
                 "dtype=f16: updates without overflow that double it");
  fields.text(
      "recompute", train.recompute, {"auto", "none", "all"},
      "activations that backward computes again, to the same bits: where that is free; none; all that are cheap");
  fields.number("bucket_mb", train.bucket_mb, {.low = 0.01, .high = 1024},
                "MiB of gradients that go to the other ranks together, while backward goes on");
  fields.text("batch_norm", train.batch_norm, {"local", "sync"},
              "statistics of each rank's own images, or of all ranks' images, for which they wait in every layer");
}

/// Keys of an update rule's options. Rules may share a key, which then sets the option of each.
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
  fields.section("optimizer", "how a gradient changes the weights");
  fields.text("name", optimizer.name, optimizer_names(), optimizer_meanings());
  fields.number("lr", optimizer.lr, {.low = 1e-12, .high = 1e6}, "learning rate after warm-up");
  fields.integer(
      "lr_batch", optimizer.lr_batch, kCount,
      "images of an update, over all ranks, that lr is for: with others it grows in proportion; 0 = it does not");
  fields.number("weight_decay", optimizer.weight_decay, kNotNegative,
                "factor of a weight, added to its gradient unless name says otherwise");
  fields.flag("decay_norm_and_bias", optimizer.decay_norm_and_bias, "weight decay on batch norms and biases, too");
  std::apply([&](auto&... rules) { (add_rule(rules, fields), ...); }, optimizer.rules);
}

void add_schedule(ScheduleRecipe& schedule, FieldList& fields) {
  fields.section("schedule", "learning rate over time");
  fields.text("name", schedule.name, schedule_names(), "roentgen schedule --print draws it");
  fields.number("warmup_epochs", schedule.warmup_epochs, kNotNegative, "linear warm-up, fractions allowed");
  fields.number("warmup_start", schedule.warmup_start, {.low = 1e-9, .high = 1}, "share of lr at which it starts");
  fields.numbers("milestones_epochs", schedule.milestones_epochs, kNotNegative, "multistep: where lr drops");
  fields.number("gamma", schedule.gamma, kFactor, "multistep, plateau: factor of a drop");
  fields.number("final_share", schedule.final_share, kShare, "cosine, poly, plateau: lowest lr as a share");
  fields.number("power", schedule.power, {.low = 0, .is_above_low = true}, "poly");
  fields.integer("patience", schedule.patience, kCount, "plateau: validations without improvement that are tolerated");
  fields.number("min_delta", schedule.min_delta, kNotNegative, "plateau: smallest change of the loss that counts");
}

void add_loss(LossRecipe& loss, FieldList& fields) {
  fields.section("loss", "what is minimised");
  fields.text("name", loss.name, {"sigmoid", "softmax"},
              "sigmoid = every label on its own; softmax = one class of all");
  fields.text("reduction", loss.reduction, {"mean_known", "mean_batch", "sum"}, "how terms become one number");
  fields.number("label_smoothing", loss.label_smoothing, {.low = 0, .high = 0.999}, "softmax");
  fields.text("positive_weights", loss.positive_weights, {"none", "balanced"},
              "balanced = negatives / positives, sigmoid");
}

}  // namespace

FieldList recipe_fields(Recipe& recipe, ForeignSections& foreign) {
  FieldList fields;
  add_model(recipe.model, fields);
  fields.foreign("data", foreign.data, {data::kSourceKeys.begin(), data::kSourceKeys.end()},
                 "what is learnt from; data/source/options.h");
  fields.foreign("preprocess", foreign.preprocess, {},
                 "what the network is fed; stored in the checkpoint; data/transform/preprocess.h");
  fields.foreign("augment", foreign.augment, {}, "random distortions in training; data/transform/augment.h");
  add_train(recipe.train, fields);
  add_optimizer(recipe.optimizer, fields);
  add_schedule(recipe.schedule, fields);
  add_loss(recipe.loss, fields);
  return fields;
}

}  // namespace roentgen::train
