// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/compile_run.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "data/source/dataset.h"
#include "engine/engine.h"
#include "engine/plan_table.h"
#include "graph/loss.h"
#include "io/file.h"
#include "io/json.h"
#include "train/bucket_tuner.h"
#include "train/choice_file.h"
#include "train/predict.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/run_folder.h"
#include "train/train_job.h"

namespace roentgen::train {
namespace {

// Reports that kernels differ from those of the stored plan. Throws ConfigError if the instruction set differs;
// otherwise logs a warning.
void tell_of_other_kernels(const RunPlan& stored, const std::string& instruction_set, const Ranks& ranks) {
  if (!stored.instruction_set.empty() && stored.instruction_set != instruction_set) {
    throw ConfigError(error_text("train.resume", "instruction set of the kernels",
                                 stored.instruction_set + ", as at the start of the run", instruction_set,
                                 "the same type of machine, or --init with the run's weights and a new --out folder"));
  }
  if (!ranks.is_first()) return;
  log::warning("the kernels differ from those at the start of the run: weights will differ in their last bits");
}

// True if the stored plan is for another engine, which lacks this engine's kernels. Kernels are then chosen again for
// the same dtype.
bool is_of_another_engine(const RunPlan& stored, const engine::Engine& engine, const Ranks& ranks) {
  const std::string begun = stored.engine.empty() ? "cpu" : stored.engine;
  if (begun == engine.name()) return false;
  if (ranks.is_first()) {
    log::warning(
        fmt::format("resumed on {}, begun on {}: the weights will differ in their last bits", engine.name(), begun));
  }
  return true;
}

// Returns the compute type (f32, bf16, ...) of a stored plan.
std::optional<engine::ComputeType> dtype_of(const RunPlan& plan) {
  const auto found = plan.choices.find(std::string(engine::kDtypeChoice));
  return engine::parse_dtype(found == plan.choices.end() ? "f32" : found->second);
}

// Returns the options that training and inference share.
engine::CompileOptions common_options(const TrainJob& job, engine::Form form) {
  const TrainRecipe& recipe = job.recipe.train;
  engine::CompileOptions options;
  options.form = form;
  options.threads = compute_threads(recipe);
  options.input_norm = input_norm(job.recipe.preprocess, job.engine);
  options.fuse = recipe.fuse;
  options.algorithms = engine::parse_algorithms(recipe.algorithms);
  options.choice = shared_choice_inputs(Ranks(job.group), job.engine, options.threads);
  return options;
}

// Buckets of servers are what they share among them, so their size is fixed. Those of ranks are joined by the Stepper.
double compiled_bucket_mb(const TrainRecipe& recipe, bool has_servers) {
  if (recipe.bucket_mb != kAutoBucket) return recipe.bucket_mb;
  return has_servers ? kUsualBucket_mb : kLeastBucket_mb;
}

}  // namespace

CompiledTraining compile_training(const TrainJob& job, int slots, const RunPlan* stored, Timeline* timeline) {
  const TrainRecipe& recipe = job.recipe.train;
  const Ranks ranks(job.group);
  graph::LossConfig loss = loss_config(job.recipe.loss, job.dataset.summary(data::Split::Train));
  loss.is_partial = ranks.size() * recipe.accumulate > 1;
  CompiledTraining made;
  const bool is_moved = stored != nullptr && is_of_another_engine(*stored, job.engine, ranks);
  if (stored != nullptr && !is_moved) made.plan = *stored;
  const bool is_stored = !made.plan.choices.empty();
  engine::CompileOptions options = common_options(job, engine::Form::Training);
  options.slots = slots;
  options.choices = made.plan.choices;
  options.dtype = is_moved ? dtype_of(*stored) : engine::parse_dtype(recipe.dtype);
  options.loss_scaling = {.start = recipe.loss_scale, .growth_updates = recipe.loss_growth};
  options.recompute = recipe.recompute;
  options.bucket_bytes = bucket_bytes(compiled_bucket_mb(recipe, job.servers.has_servers()));
  options.seed = static_cast<std::uint64_t>(recipe.seed);
  if (recipe.batch_norm == "sync") options.norm_group = norm_group(ranks, timeline);
  // Different seed for each rank; the lower bits count layers
  options.seed += static_cast<std::uint64_t>(ranks.rank()) << 48U;
  if (!is_stored && !recipe.choices.empty()) {
    require_rule(recipe);
    ChoiceFile file = shared_choice_file(ranks, recipe.choices);
    options.choice.measured = std::move(file.algorithms);
    made.plan.measured_sha256 = file.sha256;
  }
  made.executable = compile_on_ranks(ranks, job.engine, graph::with_loss(job.model, loss), options);
  require_one_plan(ranks, *made.executable);
  const engine::Plan& plan = made.executable->plan();
  if (!options.choice.measured.empty()) tell_of_measured(plan, recipe.choices);
  if (!is_stored) {
    made.plan.choices = plan.choices;
    made.plan.choice_revision = plan.choice_revision;
    made.plan.instruction_set = options.choice.instruction_set;
    made.plan.engine = job.engine.name();
  } else if (made.plan.hash != plan.hash()) {
    tell_of_other_kernels(made.plan, options.choice.instruction_set, ranks);
  }
  made.plan.hash = plan.hash();
  return made;
}

std::unique_ptr<engine::Executable> compile_validation(const TrainJob& job) {
  graph::LossConfig loss = loss_config(job.recipe.loss, job.dataset.summary(data::Split::Train));
  loss.reduction = "mean_known";
  engine::CompileOptions options = common_options(job, engine::Form::Inference);
  // Validation computes in f32 for every training type, so that rounding does not decide which epoch is best. TF32 is
  // used if the user chose it.
  if (engine::parse_dtype(job.recipe.train.dtype) == engine::ComputeType::tf32()) {
    options.dtype = engine::ComputeType::tf32();
  }
  return job.engine.compile(graph::with_loss(job.model, loss), options);
}

std::int64_t count_server_buckets(const Recipe& recipe, const graph::Graph& model, engine::Engine& engine) {
  engine::CompileOptions options;
  options.form = engine::Form::Training;
  options.threads = compute_threads(recipe.train);
  options.fuse = recipe.train.fuse;
  options.algorithms = engine::parse_algorithms(recipe.train.algorithms);
  options.dtype = engine::parse_dtype(recipe.train.dtype);
  options.recompute = recipe.train.recompute;
  options.bucket_bytes = bucket_bytes(compiled_bucket_mb(recipe.train, true));
  return engine.plan(graph::with_loss(model, {}), options).bucket_ready.back();
}

void write_plan(const TrainJob& job, const engine::Executable& executable, const RunPlan& run) {
  const engine::Plan& plan = executable.plan();
  const TrainRecipe& recipe = job.recipe.train;
  const Value table = Value::Table{{"plan_hash", plan.hash()},
                                   {"algorithms", recipe.algorithms},
                                   {"choice_revision", run.choice_revision},
                                   {"measured_sha256", run.measured_sha256},
                                   {"dtype", plan.dtype()},
                                   {"recompute", recipe.recompute},
                                   {"threads", compute_threads(recipe)},
                                   {"fuse", recipe.fuse},
                                   {"fused", engine::effect_table(executable.graph(), recipe.fuse, plan)},
                                   {"choices", engine::choice_table(plan)}};
  io::write_file_atomically(job.folder.plan(), io::to_json(table) + "\n");
}

}  // namespace roentgen::train
