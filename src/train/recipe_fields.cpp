// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one table of recipe keys: name, type, accepted values, meaning. A new key: a field in recipe.h and a line here.
#include "data/source/options.h"
#include "engine/engine_list.h"
#include "graph/loss.h"
#include "train/field.h"
#include "train/optimizer/optimizer.h"
#include "train/optimizer/optimizer_list.h"
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

void visit_model(ModelRecipe& model, FieldVisitor& v) {
  v.section("model", "which network");
  v.text("name", model.name, {},
         "resnet18/34/50/101/152, densenet121/169/201, vgg16/19(_bn), googlenet, inception_v3, inception_v4");
  v.text("file", model.file, {}, "graph text to train instead; empty = the named model");
  v.integer("width", model.width, kWidth, "channels after the stem, a multiple of 8; 64 = torchvision's");
  v.text("stem", model.stem, {"imagenet", "small"}, "small = 3x3 without pooling, for little images");
  v.text("resnet", model.resnet, {"v1.5", "v1"}, "where a bottleneck strides; v1.5 = torchvision's");
  v.integer("dilated_stages", model.dilated_stages, {.low = 0, .high = 3},
            "last stages that dilate instead of halving the image: finer heat-maps, more arithmetic");
  v.flag("auxiliary", model.auxiliary, "GoogLeNet's and Inception-v3's auxiliary classifiers, in training only");
}

void visit_train(TrainRecipe& train, FieldVisitor& v) {
  v.section("train", "the loop");
  v.integer("epochs", train.epochs, kPositive, "passes over the training images");
  v.integer("batch", train.batch, kPositive, "images a step");
  v.text("tail", train.tail, {"drop", "wrap"}, "images that fill no whole batch: left out, or filled up");
  v.text("pipeline", train.pipeline, {}, "default, tf-official, naive, or stages: \"samples | shuffle | ...\"");
  v.integer("accumulate", train.accumulate, {.low = 1, .high = 65536}, "batches to an update; their mean counts");
  v.number("clip_norm", train.clip_norm, kNotNegative, "largest global gradient norm; 0 = no limit");
  v.number("ema", train.ema, kBelowOne, "evaluate and keep the weights' moving average of this decay; 0 = none");
  v.integer("seed", train.seed, kCount, "root of all random streams");
  v.text("select", train.select, {"auroc", "loss"}, "which validation figure picks the best epoch");
  v.integer("early_stop", train.early_stop, kCount, "stop after so many epochs without improvement; 0 = never");
  v.integer("workers", train.workers, {.low = 0, .high = 1024}, "decoding threads; 0 = chosen");
  v.integer("threads", train.threads, {.low = 0, .high = 4096}, "compute threads; 0 = all cores");
  v.text(
      "input_cores", train.input_cores, {},
      "cores of the decoding threads, as 0-1,4, the rest computes; shared = both have all; empty = shared, of several "
      "ranks some where there are enough");
  v.integer("slots", train.slots, {.low = 0, .high = 64},
            "batches kept ahead of the step; 0 = up to 8, as memory_mb allows");
  v.integer(
      "memory_mb", train.memory_mb, kCount,
      "MiB for batches, threads, buffers and cache_mb together; 0 = half of what the machine or the job has left");
  v.text("cache", train.cache, {"memory", "disk"}, "where decoded images are kept between epochs; disk: between runs");
  v.integer("cache_mb", train.cache_mb, kCount, "decoded images kept in memory between epochs, MiB");
  v.text("cache_dir", train.cache_dir, {},
         "folder of cache=disk; empty = $XDG_CACHE_HOME/roentgen or ~/.cache/roentgen");
  v.integer("cache_px", train.cache_px, {.low = 0, .high = 16384},
            "cache=disk: short side of kept training images, which crops are then cut from; 0 = as decoded");
  v.number("max_bad", train.max_bad, kShare, "share of unreadable images that is tolerated");
  v.text("init", train.init, {}, "safetensors file to start from; empty = at random");
  v.text("init_preset", train.init_preset, {},
         "preprocessing the init weights were trained with, when the file is mute");
  v.flag("partial", train.partial, "load of init what fits, instead of refusing");
  v.integer("keep_best", train.keep_best, {.low = 1, .high = 1000}, "best epochs whose weights are kept");
  v.integer("keep_last", train.keep_last, {.low = 1, .high = 1000}, "resume files that are kept");
  v.integer("checkpoint_steps", train.checkpoint_steps, kCount, "resume file every so many updates; 0 = every epoch");
  v.text("engine", train.engine, engine::engine_names(), "what computes");
  v.text("fuse", train.fuse, {}, "passes and fusions: on, off, names or on,-NAME; results move within rounding");
  v.text("algorithms", train.algorithms, {"auto", "direct"},
         "convolutions: per layer the faster of direct and our own, by a rule that times nothing; or direct");
  v.text("choices", train.choices, {},
         "file of roentgen bench choose --write: measured kernels of training that are taken instead of the rule's");
  v.text("dtype", train.dtype, {"f32", "bf16", "auto"},
         "activations and their products: f32; bf16, with fewer digits, half the memory and, with Intel AMX, half the "
         "time (AVX-512 BF16: 0.7 to 0.9); auto: bf16 where the machine multiplies it");
  v.text("recompute", train.recompute, {"auto", "none", "all"},
         "activations that backward computes again, to the same bits: where that is free; none; all that are cheap");
  v.number("bucket_mb", train.bucket_mb, {.low = 0.01, .high = 1024},
           "MiB of gradients that go to the other ranks together, while backward goes on");
  v.text("batch_norm", train.batch_norm, {"local", "sync"},
         "statistics of each rank's own images, or of all ranks' images, for which they wait in every layer");
}

void visit_optimizer(OptimizerRecipe& optimizer, FieldVisitor& v) {
  v.section("optimizer", "how a gradient changes the weights");
  v.text("name", optimizer.name, optimizer_names(), "as torch.optim's of these names; lars: sgd for large batches");
  v.number("lr", optimizer.lr, {.low = 1e-12, .high = 1e6}, "learning rate after warm-up");
  v.integer("lr_batch", optimizer.lr_batch, kCount,
            "images of an update, over all ranks, that lr is for: with others it grows in proportion; 0 = it does not");
  v.number("weight_decay", optimizer.weight_decay, kNotNegative,
           "in the gradient (sgd, adam, lars) or decoupled (adamw)");
  v.flag("decay_norm_and_bias", optimizer.decay_norm_and_bias, "weight decay on batch norms and biases, too");
  v.number("momentum", optimizer.momentum, kBelowOne, "sgd, lars");
  v.flag("nesterov", optimizer.nesterov, "sgd");
  v.number("beta1", optimizer.beta1, kBelowOne, "adam");
  v.number("beta2", optimizer.beta2, kBelowOne, "adam");
  v.number("epsilon", optimizer.epsilon, kFactor, "adam");
  v.number("trust", optimizer.trust, {.low = 1e-12, .high = 1e3}, "lars: trust coefficient");
}

void visit_schedule(ScheduleRecipe& schedule, FieldVisitor& v) {
  v.section("schedule", "learning rate over time");
  v.text("name", schedule.name, schedule_names(), "roentgen schedule --print draws it");
  v.number("warmup_epochs", schedule.warmup_epochs, kNotNegative, "linear warm-up, fractions allowed");
  v.number("warmup_start", schedule.warmup_start, {.low = 1e-9, .high = 1}, "share of lr at which it starts");
  v.numbers("milestones_epochs", schedule.milestones_epochs, kNotNegative, "multistep: where lr drops");
  v.number("gamma", schedule.gamma, kFactor, "multistep, plateau: factor of a drop");
  v.number("final_share", schedule.final_share, kShare, "cosine, poly, plateau: lowest lr as a share");
  v.number("power", schedule.power, {.low = 0, .is_above_low = true}, "poly");
  v.integer("patience", schedule.patience, kCount, "plateau: validations without improvement that are tolerated");
  v.number("min_delta", schedule.min_delta, kNotNegative, "plateau: smallest change of the loss that counts");
}

void visit_loss(LossRecipe& loss, FieldVisitor& v) {
  v.section("loss", "what is minimised");
  v.text("name", loss.name, {"sigmoid", "softmax"}, "sigmoid = every label on its own; softmax = one class of all");
  v.text("reduction", loss.reduction, {"mean_known", "mean_batch", "sum"}, "how terms become one number");
  v.number("label_smoothing", loss.label_smoothing, {.low = 0, .high = 0.999}, "softmax");
  v.text("positive_weights", loss.positive_weights, {"none", "balanced"}, "balanced = negatives / positives, sigmoid");
}

}  // namespace

void visit_fields(Recipe& recipe, ForeignSections& foreign, FieldVisitor& visitor) {
  visit_model(recipe.model, visitor);
  visitor.foreign("data", foreign.data, {data::kSourceKeys.begin(), data::kSourceKeys.end()},
                  "what is learnt from; data/source/options.h");
  visitor.foreign("preprocess", foreign.preprocess, {},
                  "what the network is fed; stored in the checkpoint; data/transform/preprocess.h");
  visitor.foreign("augment", foreign.augment, {}, "random distortions in training; data/transform/augment.h");
  visit_train(recipe.train, visitor);
  visit_optimizer(recipe.optimizer, visitor);
  visit_schedule(recipe.schedule, visitor);
  visit_loss(recipe.loss, visitor);
}

}  // namespace roentgen::train
