// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen train: a recipe and a data folder become a run folder.
#include "train/trainer.h"

#include <fmt/format.h>
#include <algorithm>
#include <optional>

#include "cli/arguments.h"
#include "cli/command_list.h"
#include "cli/launch.h"
#include "cli/model_option.h"
#include "cli/output_file.h"
#include "cli/standard_output.h"
#include "cli/stop_signals.h"
#include "cli/train_options.h"
#include "core/error.h"
#include "core/log.h"
#include "core/terminal.h"
#include "data/source/dataset.h"
#include "data/source/describe.h"
#include "dist/comm_thread.h"
#include "engine/engine.h"
#include "eval/seed_table.h"
#include "graph/graph.h"
#include "io/file.h"
#include "publish/torchvision.h"
#include "train/aurocs_csv.h"
#include "train/early_checks.h"
#include "train/observer.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/resume.h"
#include "train/run_folder.h"
#include "train/run_lock.h"
#include "train/run_origin.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSeedsFile = "seeds.csv";  // beside the seeds' folders

class TrainCommand final : public Command {
 public:
  TrainCommand()
      : Command(
            "train", "Train a classifier by a recipe.",
            "roentgen train --recipe recipes/quickstart.toml --data build/quickstart/data --out build/quickstart/run\n"
            "roentgen train --recipe recipes/default.toml --data nih --out run --set train.epochs=3 --set "
            "train.batch=16\n"
            "roentgen train --out run --resume\n"
            "roentgen train --recipe recipes/default.toml --data nih --out run2 --model my_net.txt\n"
            "roentgen train --recipe recipes/chexnet.toml --data nih --out run3 --init densenet121.safetensors "
            "--init-preset imagenet\n"
            "roentgen train --recipe recipes/default.toml --data nih --out runs --seeds 0,1,2 --resume") {}

  [[nodiscard]] std::vector<Option> options() override { return options_.list(); }
  [[nodiscard]] Folders folders() const override;
  [[nodiscard]] CommandResult run() override;

 private:
  [[nodiscard]] CommandResult train_one(train::Recipe recipe, const train::RunFolder& folder);
  [[nodiscard]] CommandResult train_seeds();
  [[nodiscard]] train::RunFolder seed_folder(std::int64_t seed) const {
    return train::RunFolder(options_.out / fmt::format("seed-{}", seed));
  }
  [[nodiscard]] train::Start check_before_data(train::Recipe& recipe, const train::RunFolder& folder) const;
  [[nodiscard]] train::Start begin(train::Recipe& recipe, const train::RunFolder& folder);
  void make_folder(const train::Recipe& recipe, const data::Dataset& dataset, const engine::Engine& engine,
                   const train::RunFolder& folder);
  [[nodiscard]] train::TrainOutcome train_in(const train::TrainJob& job);

  TrainOptions options_;
  /// The ranks that train together; null: this process alone.
  dist::CommThread* group_ = nullptr;
  /// Loaded once for all seeds, unless runs from before draw their splits otherwise.
  std::optional<data::Dataset> dataset_;
  data::SplitRule dataset_rule_ = data::SplitRule::Normal;
  /// From before the first look at a folder that is there, or since it was made, to the end.
  std::optional<train::RunLock> lock_;
  /// The folder holds this run's files, and no older ones.
  bool is_made_ = false;
};

ModelShape model_shape(const train::Recipe& recipe, std::size_t labels) {
  return {.batch = recipe.train.batch,
          .channels = recipe.preprocess.channels,
          .image_px = recipe.preprocess.size_px,
          .labels = static_cast<std::int64_t>(labels)};
}

// All that can be refused without a look at the data, which may take minutes to list.
train::Start TrainCommand::check_before_data(train::Recipe& recipe, const train::RunFolder& folder) const {
  const bool is_resumed = options_.is_resume && fs::exists(folder.resume());
  if (options_.is_resume) folder.check_resumable();
  if (!options_.is_resume && !options_.is_overwrite) folder.check_new();
  if (options_.is_overwrite && !recipe.train.init.empty() && is_inside(recipe.train.init, folder.root())) {
    throw ConfigError(error_text("train.run", "--overwrite", "first weights outside of the run that it removes",
                                 recipe.train.init, "a copy of that file elsewhere, or another --out"));
  }
  static_cast<void>(train::compute_threads(recipe.train));  // refuses what the machine has not
  static_cast<void>(train::keeps_on_disk(recipe.train));
  // How many labels there are is not known yet; any number shows what is wrong with a model.
  const graph::Graph model = make_model(recipe.model, model_shape(recipe, std::max(recipe.data.labels.size(), 1UL)));
  train::check_model(recipe, model, train::Ranks(group_).size());
  if (is_resumed) {
    train::check_resumed_recipe(recipe, folder);
    return train::Start::Resume;
  }
  train::check_init(recipe, model);
  return train::Start::Fresh;
}

// Rank 0 sees to the folder; what it finds there goes for all. A resumed run keeps its rule of splits.
train::Start TrainCommand::begin(train::Recipe& recipe, const train::RunFolder& folder) {
  lock_.reset();
  is_made_ = false;
  const train::Ranks ranks(group_);
  std::string rule;  // empty: a fresh start
  if (ranks.is_first()) {
    folder.check_place();
    if (fs::is_directory(folder.root())) lock_.emplace(folder.root());
    const train::Start start = check_before_data(recipe, folder);
    if (lock_) folder.remove_leftovers();
    if (start == train::Start::Resume)
      rule = train::read_split_rule(folder.resume()) == data::SplitRule::Normal ? "normal" : "written";
  }
  rule = ranks.broadcast(rule, {.name = "start"});
  recipe.train.algorithms = ranks.broadcast(recipe.train.algorithms, {.name = "start"});
  if (rule.empty()) return train::Start::Fresh;
  data::set_split_rule(recipe.data, rule == "normal" ? data::SplitRule::Normal : data::SplitRule::Written);
  return train::Start::Resume;
}

void TrainCommand::make_folder(const train::Recipe& recipe, const data::Dataset& dataset, const engine::Engine& engine,
                               const train::RunFolder& folder) {
  if (options_.is_resume) log::info("nothing to resume yet: starting anew");
  if (lock_ && (options_.is_overwrite || options_.is_resume)) folder.remove_run();
  if (!lock_) {
    std::error_code ignored;  // the lock says why it has no folder
    fs::create_directories(folder.root(), ignored);
    lock_.emplace(folder.root());
  }
  folder.create_new();
  is_made_ = true;
  train::write_origin(folder, recipe, dataset, engine);
}

// A run that fails before its first update leaves nothing behind.
train::TrainOutcome TrainCommand::train_in(const train::TrainJob& job) {
  try {
    return train::train(job);
  } catch (...) {
    std::error_code ignored;
    if (is_made_ && (!fs::exists(job.folder.log()) || fs::is_empty(job.folder.log(), ignored))) {
      job.folder.remove_run();
      lock_.reset();
      fs::remove(job.folder.checkpoints(), ignored);  // both only when empty
      fs::remove(job.folder.root(), ignored);
    }
    throw;
  }
}

Folders TrainCommand::folders() const {
  Folders folders = data_folders(options_.data);
  folders.made = options_.out;
  if (options_.out.empty()) return folders;
  if (options_.seeds.empty()) folders.own = train::RunFolder(options_.out).own();
  if (options_.seeds.empty()) return folders;
  for (const std::int64_t seed : parse_seeds(options_.seeds)) {
    std::ranges::move(seed_folder(seed).own(), std::back_inserter(folders.own));
  }
  folders.own.push_back(options_.out / kSeedsFile);
  return folders;
}

CommandResult TrainCommand::train_seeds() {
  const std::vector<std::int64_t> seeds = parse_seeds(options_.seeds);
  for (const std::string& text : options_.overrides) {
    if (!text.starts_with("train.seed=")) continue;
    refuse_arguments("train", "--seeds or --set train.seed", "both", "--seeds alone");
  }
  if (!options_.is_resume) train::RunFolder(options_.out).check_new();
  train::Recipe recipe = options_.read_recipe();
  for (const std::int64_t seed : seeds) {  // what a later seed would be refused for is told before the first trains
    recipe.train.seed = seed;
    seed_folder(seed).check_place();
    train::Recipe own = recipe;
    static_cast<void>(check_before_data(own, seed_folder(seed)));
  }
  Value json = Value::table();
  Value& runs = json.set("seeds", Value::array());
  std::vector<eval::SeedAurocs> aurocs;
  for (const std::int64_t seed : seeds) {
    recipe.train.seed = seed;
    const train::RunFolder folder = seed_folder(seed);
    Value run = Value::Table{{"seed", seed}, {"run", folder.root().string()}};
    const bool is_skipped = options_.is_resume && train::is_finished(recipe, folder);
    terminal::print(fmt::format("seed {}:{}\n", seed, is_skipped ? " finished before" : ""));
    if (!is_skipped) {
      const CommandResult result = train_one(recipe, folder);
      if (result.exit_code != kSuccess) return result;
      for (const auto& [key, value] : result.json.as_table()) run.set(key, value);
    }
    run.set("skipped", is_skipped);
    runs.push_back(std::move(run));
    if (fs::exists(folder.aurocs())) aurocs.push_back({seed, train::read_aurocs(folder.aurocs())});
  }
  if (aurocs.empty()) {
    terminal::print("no validation: no figures to average\n");
    return {.json = json};
  }
  const eval::SeedTable table = eval::make_seed_table(aurocs);
  terminal::print(fmt::format("\n{}", to_text(table)));
  io::write_file_atomically(options_.out / kSeedsFile, to_csv(table));
  json.set("auroc", to_value(table));
  return {.json = json};
}

CommandResult TrainCommand::run() {
  if (options_.is_keys) {
    terminal::print(train::recipe_keys());
    return {};
  }
  ignore_closed_pipes();
  if (options_.is_resume && !options_.out.empty()) {
    train::take_from_run(
        options_.seeds.empty() ? train::RunFolder(options_.out) : seed_folder(parse_seeds(options_.seeds).front()),
        options_.recipe, options_.data);
  }
  options_.check();
  options_.ranks.is_stoppable = true;
  options_.ranks.after = [this] { train::RunFolder(options_.out).tidy_up(); };
  options_.ranks.recipe = [this] { return options_.read_recipe().train; };
  return run_as_ranks(options_.ranks, [&](dist::CommThread* group) {
    group_ = group;
    if (group != nullptr && !options_.seeds.empty()) {
      refuse_arguments("--seeds", "one process, which trains them in turn", train::ranks_text(group->size()),
                       "a run a seed, each with --ranks");
    }
    return options_.seeds.empty() ? train_one(options_.read_recipe(), train::RunFolder(options_.out)) : train_seeds();
  });
}

CommandResult TrainCommand::train_one(train::Recipe recipe, const train::RunFolder& folder) {
  const train::Start start = begin(recipe, folder);
  if (!dataset_ || dataset_rule_ != recipe.data.split.rule) {
    dataset_ = data::load_dataset(recipe.data);
    dataset_rule_ = recipe.data.split.rule;
    terminal::print(data::describe(*dataset_));
  }
  const data::Dataset& dataset = *dataset_;
  flush_output();
  if (dataset.label_names.empty()) {
    throw ConfigError(error_text("cli.train", dataset.root.string(), "a data set with labels", "images without any",
                                 "a labels.csv beside them; roentgen predict needs none"));
  }
  const graph::Graph model = make_model(recipe.model, model_shape(recipe, dataset.label_names.size()));
  const auto engine = engine::make_engine(recipe.train.engine);
  log::info(fmt::format("{}: {} parameters; {}", model.name(), model.trained_elements(), engine->description()));
  log::info(fmt::format("input {}; augmentation {}", recipe.preprocess.text(), recipe.augment.text()));
  if (const std::string note = publish::torchvision_note(recipe); !note.empty()) log::info(note);

  const auto progress =
      train::make_progress(terminal::has_progress() ? train::ProgressStyle::Line : train::ProgressStyle::Log,
                           group_ == nullptr ? std::vector<std::string>{} : group_->hosts());
  std::vector<train::Observer*> observers;
  if (train::Ranks(group_).is_first()) observers.push_back(progress.get());
  train::TrainJob job{.recipe = recipe,
                      .dataset = dataset,
                      .model = model,
                      .engine = *engine,
                      .folder = folder,
                      .start = start,
                      .observers = observers,
                      .on_ready =
                          [&] {
                            if (start == train::Start::Fresh) make_folder(recipe, dataset, *engine, folder);
                          },
                      .is_stop_asked = is_stop_asked,
                      .stop_after_steps = options_.stop_after,
                      .group = group_,
                      .trace = options_.is_traced ? std::optional(options_.trace) : std::nullopt};
  listen_for_stop();
  const train::TrainOutcome outcome = train_in(job);
  if (!outcome.is_finished) {
    ignore_stop();  // all is saved
    terminal::print(fmt::format("stopped at step {}; go on with --resume\n", outcome.step));
    return {.json = train::to_value(outcome, folder), .exit_code = kStopped};
  }
  if (outcome.best_value) {
    terminal::print(fmt::format("best epoch {}: validation {} {:.4f}\n", outcome.best_epoch + 1, recipe.train.select,
                                *outcome.best_value));
  }
  terminal::print(fmt::format("weights: {}\nrun: {}\n", folder.best().string(), folder.root().string()));
  return {.json = train::to_value(outcome, folder)};
}

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace roentgen::cli
