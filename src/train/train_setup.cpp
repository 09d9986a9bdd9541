// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/train_setup.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "core/log.h"
#include "data/source/dataset.h"
#include "dist/comm_thread.h"
#include "graph/graph.h"
#include "train/bucket_tuner.h"
#include "train/compile_run.h"
#include "train/import.h"
#include "train/predict.h"
#include "train/recipe.h"
#include "train/resumed_run.h"
#include "train/run_folder.h"
#include "train/same_job.h"
#include "train/servers/scaled_ranks.h"
#include "train/servers/serve.h"
#include "train/train_job.h"

namespace roentgen::train {
namespace {

std::unique_ptr<Stepper> make_stepper(const TrainJob& job, engine::Executable& executable, TrainedPixels& pixels,
                                      double bucket_mb, Timeline* timeline) {
  const Recipe& recipe = job.recipe;
  return std::make_unique<Stepper>(
      executable, StepperOptions{.optimizer = recipe.optimizer.name,
                                 .rules = recipe.optimizer.rules,
                                 .weight_decay = recipe.optimizer.weight_decay,
                                 .decays_norm_and_bias = recipe.optimizer.decay_norm_and_bias,
                                 .accumulate = recipe.train.accumulate,
                                 .clip_norm = recipe.train.clip_norm,
                                 .on_batch = [&pixels](std::span<const std::uint32_t> samples) { pixels.add(samples); },
                                 .group = job.group,
                                 .device_id = job.engine.device_id(),
                                 .servers = job.servers,
                                 .is_stop_asked = job.is_stop_asked,
                                 .bucket_bytes = bucket_bytes(bucket_mb),
                                 .timeline = timeline});
}

// Size in MiB of the buckets that the first update sends.
double first_bucket_mb(const TrainRecipe& recipe, const Resume* resume) {
  if (recipe.bucket_mb != kAutoBucket) return recipe.bucket_mb;
  return resume != nullptr && resume->state.bucket_mb > 0.0 ? resume->state.bucket_mb : kUsualBucket_mb;
}

// Sets the initial weights: random values from the seed, then the weights of train.init, if set.
void load_first_weights(const TrainJob& job, engine::Executable& executable) {
  const TrainRecipe& recipe = job.recipe.train;
  const auto seed = static_cast<std::uint64_t>(recipe.seed);
  engine::initialise(executable, seed);
  if (recipe.init.empty()) return log::info(fmt::format("weights drawn at random, seed {}", recipe.seed));
  Import import =
      adapt(read_import(recipe.init, recipe.init_preset),
            {.model = job.model, .labels = job.dataset.label_names, .preprocess = job.recipe.preprocess, .seed = seed});
  const LoadReport report =
      load_weights(import.tensors, executable, recipe.init, recipe.partial ? Strictness::Partial : Strictness::Strict);
  std::string text = "weights from " + recipe.init;
  for (const std::string& note : import.notes) text += "; " + note;
  if (!report.is_clean()) text += "; partial: " + report.text();
  log::info(text);
}

// Starts to load training images at the position in the state of the run.
std::unique_ptr<data::Loader> start_loader(const TrainJob& job, TrainSetup& setup) {
  const bool is_class = job.recipe.loss.name == "softmax";
  const SlotMemory memory(*setup.executable, setup.input.slots,
                          is_class ? 1 : static_cast<std::int64_t>(job.dataset.label_names.size()));
  data::LoaderOptions options = loader_options(job, setup.input, memory.dtype(), setup.state);
  options.pixel_hashes = &setup.pixels->hashes();
  return std::make_unique<data::Loader>(job.dataset, setup.input.training, std::move(options), memory.slots());
}

// Removes log lines of updates and epochs that will be repeated from log.jsonl.
std::vector<std::unique_ptr<Observer>> open_logs(const RunFolder& folder, const RunState& state) {
  truncate_json_log(folder.log(), state.step, state.epoch);
  std::vector<std::unique_ptr<Observer>> logs;
  logs.push_back(make_json_log(folder.log()));
  logs.push_back(make_tensorboard(folder.root(), state.step));
  return logs;
}

// Logs how cores are divided, if they are, and the memory and plan of a step. Returns the peak of memory in bytes,
// without the input.
std::size_t log_plan(const TrainRecipe& recipe, const TrainSetup& setup) {
  if (const TrainCores cores = train_cores(recipe); !cores.input.empty()) {
    log::debug(fmt::format("cores: {} for input, {} for computing", runtime::text_of(cores.input),
                           runtime::text_of(cores.compute)));
  }
  const engine::Plan& plan = setup.executable->plan();
  std::vector<std::pair<std::string, std::size_t>> more{{"optimizer", setup.stepper->optimizer().state_bytes()}};
  if (setup.ema) more.emplace_back("averages", plan.memory.parameters + plan.memory.state);
  if (recipe.accumulate > 1) more.emplace_back("gradient sums", plan.memory.gradients);
  if (setup.validator) more.emplace_back("validation", setup.validator->plan().memory.total());
  log::info(fmt::format("training: peak of memory {}; values in {}; plan {}", plan.memory.text(more), plan.dtype(),
                        plan.hash()));
  if (plan.dtype() == "f32" && !engine::parse_device(recipe.device).is_host()) {
    log::info("training: f32 does not use this card's tensor cores; --dtype bf16, f16 or tf32 is faster");
  }
  std::size_t bytes = plan.memory.total();
  for (const auto& [name, each] : more) bytes += each;
  return bytes;
}

}  // namespace

TrainSetup make_train_setup(const TrainJob& job) {
  const TrainRecipe& recipe = job.recipe.train;
  check_job(job);
  TrainSetup setup{.ranks = Ranks(job.group)};
  const Ranks& ranks = setup.ranks;
  setup.bound = std::make_unique<runtime::BoundToCores>(train_cores(recipe).compute);
  setup.input = plan_input(job);
  setup.info = describe_run(job);
  require_same_job(job, setup.info);
  open_memory_cache(job, setup.input);
  if (job.trace) setup.tracer = std::make_unique<Tracer>(*job.trace, job.group);
  Timeline* const timeline = setup.tracer ? setup.tracer->timeline() : nullptr;
  std::optional<Resume> resume = read_resume(job, setup.info);
  CompiledTraining training =
      compile_training(job, setup.input.slots, resume ? &resume->state.plan : nullptr, timeline);
  setup.executable = std::move(training.executable);
  engine::Executable& executable = *setup.executable;
  if (!setup.input.validation.empty()) setup.validator = compile_validation(job);

  setup.pixels = std::make_unique<TrainedPixels>(std::ssize(job.dataset.samples),
                                                 resume ? resume->info.training_pixels : std::vector<std::string>{});
  setup.stepper =
      make_stepper(job, executable, *setup.pixels, first_bucket_mb(recipe, resume ? &*resume : nullptr), timeline);
  Optimizer& optimizer = setup.stepper->optimizer();
  const std::int64_t updates = updates_per_epoch(job, setup.input);
  warn_of_skipped(job, setup.input, updates);
  const int summed_ranks = scaled_ranks(job.recipe.optimizer, ranks.size(), job.servers.way);
  setup.schedule = make_schedule(job.recipe.schedule.name, schedule_options(job.recipe, updates, summed_ranks));
  if (!resume && ranks.is_first()) load_first_weights(job, executable);
  if (recipe.ema > 0.0) setup.ema = std::make_unique<Ema>(executable, recipe.ema);
  Ema* const ema = setup.ema.get();
  if (resume)
    load_resume(job, *resume, {.executable = executable, .optimizer = optimizer, .ema = ema}, *setup.schedule);
  share_memory(ranks, executable, optimizer, ema);
  const bool has_own_statistics =
      scatter_statistics(ranks, resume ? std::move(resume->rank_statistics) : std::vector<float>{}, executable, ema);
  setup.has_averaged_statistics = resume && !has_own_statistics;

  if (ranks.is_first() && job.on_ready) job.on_ready();
  if (setup.tracer) setup.tracer->keep_in(job.folder);
  RunState& state = setup.state;
  state = resume ? std::move(resume->state)
                 : RunState{.updates_per_epoch = updates, .legs = {{.ranks = ranks.size(), .batch = recipe.batch}}};
  setup.loader = start_loader(job, setup);
  state.updates_per_epoch = updates;
  state.threads = compute_threads(recipe);
  state.averages = job.group == nullptr ? "" : job.group->way();
  state.updates = text_of(job.servers);
  state.seed = static_cast<std::uint64_t>(recipe.seed);
  state.plan = std::move(training.plan);
  if (ServerExchange* const servers = setup.stepper->servers(); servers != nullptr) {
    if (ranks.is_first()) greet_servers(job, executable, state, *servers, optimizer);
    servers->start_at(state.step * ranks.size());
  }
  if (ranks.is_first()) write_plan(job, executable, state.plan);
  if (ranks.is_first()) setup.logs = open_logs(job.folder, state);
  setup.observers = job.observers;
  for (const auto& log : setup.logs) setup.observers.push_back(log.get());
  setup.planned_bytes = log_plan(recipe, setup);
  return setup;
}

}  // namespace roentgen::train
