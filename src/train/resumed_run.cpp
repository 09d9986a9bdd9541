// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/resumed_run.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/log.h"
#include "core/plural.h"
#include "dist/comm_thread.h"
#include "engine/engine.h"
#include "io/json.h"
#include "io/toml.h"
#include "train/early_checks.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/run_folder.h"
#include "train/schedule/schedule.h"
#include "train/servers/scaled_ranks.h"
#include "train/train_job.h"

namespace roentgen::train {
namespace {

// Requires the same images in every update, however many ranks share them. Also accepts the same batch on another
// number of ranks, whose updates differ.
void check_batch(const TrainJob& job, const Resume& resume) {
  const Recipe begun = parse_recipe(resume.info.recipe, "recipe", {});
  const RunLeg before = resume.state.legs.empty() ? RunLeg{.batch = begun.train.batch} : resume.state.legs.back();
  const RunLeg now{.ranks = Ranks(job.group).size(), .batch = job.recipe.train.batch};
  if (now.batch * now.ranks == before.batch * before.ranks) return;
  if (now.batch != before.batch) {
    throw ConfigError(error_text("train.resume", "train.batch",
                                 fmt::format("{} on {}, together {} per update, as before", before.batch,
                                             ranks_text(before.ranks), counted(before.batch * before.ranks, "image")),
                                 fmt::format("{} on {}", now.batch, ranks_text(now.ranks)),
                                 "the same recipe and options, or a new --out folder"));
  }
  log::warning(fmt::format("training on {} instead of {}: an update takes {} instead of {}", ranks_text(now.ranks),
                           before.ranks, counted(now.batch * now.ranks, "image"), before.batch * before.ranks));
}

// Throws ConfigError when the resume file belongs to another run: recipe, labels, lists of images, or images of an
// update differ.
void check_resume(const TrainJob& job, const CheckpointInfo& now, const Resume& resume) {
  refuse_changed_recipe(io::parse_toml(resume.info.recipe, job.folder.resume().string()).or_throw<ConfigError>(),
                        io::parse_toml(to_toml(job.recipe), "recipe").or_throw<ConfigError>());
  const auto refuse_change = [](std::string_view what, const std::string& begun, const std::string& here) {
    if (begun == here) return;
    throw ConfigError(error_text("train.resume", what, begun + ", as at the start of the run", here,
                                 "the same --data, or a new --out folder"));
  };
  refuse_change("labels", fmt::format("{}", fmt::join(resume.info.labels, ", ")),
                fmt::format("{}", fmt::join(now.labels, ", ")));
  for (const std::string_view split : {"train", "val", "test"}) {
    refuse_change(split, split_text(resume.info.splits, split), split_text(now.splits, split));
  }
  check_batch(job, resume);
  if (resume.state.threads != compute_threads(job.recipe.train)) {
    log::warning(fmt::format("resumed with {}, started with {}: weights will differ in their last bits",
                             counted(compute_threads(job.recipe.train), "thread"), resume.state.threads));
  }
}

}  // namespace

std::optional<Resume> read_resume(const TrainJob& job, const CheckpointInfo& info) {
  if (job.start != Start::Resume) return std::nullopt;
  const Ranks ranks(job.group);
  constexpr dist::Phase kPhase{.name = "resume file"};
  std::optional<Resume> resume;
  if (ranks.is_first()) resume = read_resume(job.folder.resume());
  const std::string state = ranks.broadcast(resume ? io::to_json(to_value(resume->state), -1) : "", kPhase);
  const std::string recipe = ranks.broadcast(resume ? resume->info.recipe : "", kPhase);
  if (resume) {
    check_resume(job, info, *resume);
    return resume;
  }
  resume.emplace();
  resume->state = run_state_from_value(io::parse_json(state, "rank 0's state").or_throw<ConfigError>());
  resume->info.recipe = recipe;
  return resume;
}

void load_resume(const TrainJob& job, const Resume& resume, const RunMemory& memory, Schedule& schedule) {
  const Ranks ranks(job.group);
  const RunState& state = resume.state;
  if (ranks.is_first()) apply_resume(resume, memory, job.folder.resume().string());
  schedule.restore(state.schedule);
  if (state.loss_scale) memory.executable.set_loss_scale(*state.loss_scale);
  log::info(fmt::format("resumed at step {}, epoch {}", state.step, state.epoch + 1));
  if (!ranks.is_first()) return;
  for (const std::string& changed :
       {changed_averages(state, job.group == nullptr ? "" : job.group->way()), changed_updates(state, job.servers)}) {
    if (!changed.empty()) log::warning(changed);
  }
  if (job.servers.is_async()) {
    log::warning(
        "asynchronous updates arrive in a different order each time: weights will differ from those of a run without a "
        "stop");
  }
  const std::string rates = changed_rates(job.recipe, resume.info.recipe, state,
                                          scaled_ranks(job.recipe.optimizer, ranks.size(), job.servers.way));
  if (!rates.empty()) log::warning(rates);
  const TrainRecipe& train = job.recipe.train;
  const bool has_all_epochs = state.epoch >= train.epochs;
  if (has_all_epochs || (train.early_stop > 0 && state.epochs_without_improvement >= train.early_stop)) {
    log::info(fmt::format("nothing left to do: this run ended after {}; to continue it, resume it with a larger {}",
                          counted(state.epoch, "epoch"), has_all_epochs ? "train.epochs" : "train.early_stop"));
  }
}

std::string changed_averages(const RunState& state, std::string_view averages) {
  if (state.averages.empty() || averages.empty() || state.averages == averages) return {};
  return fmt::format(
      "resumed with --reduce and --wire {}, started with {}: weights may differ from those of a run "
      "without a stop",
      averages, state.averages);
}

std::string changed_updates(const RunState& state, const ServerOptions& servers) {
  const std::string updates = text_of(servers);
  if (state.updates.empty() || state.updates == updates) return {};
  return fmt::format("resumed with {}, started with {}: weights may differ from those of a run without a stop", updates,
                     state.updates);
}

std::string changed_rates(const Recipe& recipe, std::string_view begun_toml, const RunState& state, int ranks) {
  const Value begun = io::parse_toml(begun_toml, "recipe").or_throw<ConfigError>();
  const Value* epochs = begun.find_path("train.epochs");
  if (epochs == nullptr || epochs->as_integer() == recipe.train.epochs) return {};
  Recipe before = recipe;
  before.train.epochs = epochs->as_integer();
  const auto then = make_schedule(recipe.schedule.name, schedule_options(before, state.updates_per_epoch, ranks));
  const auto now = make_schedule(recipe.schedule.name, schedule_options(recipe, state.updates_per_epoch, ranks));
  const std::int64_t end = recipe.train.epochs * state.updates_per_epoch;
  for (std::int64_t step = state.step; step < end; ++step) {
    if (then->lr(step) == now->lr(step)) continue;
    return fmt::format(
        "train.epochs was {} and is {}: schedule {} depends on it, so the learning rate of the remaining steps changes "
        "(step {}: {:.3g}, not {:.3g})",
        before.train.epochs, recipe.train.epochs, recipe.schedule.name, step + 1, now->lr(step), then->lr(step));
  }
  return {};
}

}  // namespace roentgen::train
