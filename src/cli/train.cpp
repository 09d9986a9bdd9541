// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen train: a recipe and a data folder become a run folder.
#include "train/trainer.h"

#include <fmt/format.h>
#include <algorithm>
#include <optional>

#include "cli/command_list.h"
#include "cli/compute_options.h"
#include "cli/launch.h"
#include "cli/model_option.h"
#include "cli/output_file.h"
#include "cli/seed_list.h"
#include "cli/standard_output.h"
#include "cli/stop_signals.h"
#include "cli/trace_flags.h"
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
#include "train/outcome_value.h"
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

  [[nodiscard]] std::vector<Option> options() override {
    const std::vector<Option> own{
        {.name = "--recipe", .target = &recipe_, .doc = "TOML file; recipes/ has some"},
        {.name = "--data",
         .target = &data_,
         .doc = "data folder, never written to; several, also as NAME=DIR, are read as one",
         .value_name = "DIR"},
        {.name = "--out", .target = &out_, .doc = "run folder to make", .value_name = "DIR"},
        {.name = "--set", .target = &overrides_, .doc = "section.key=value, over the recipe; may be repeated"},
        {.name = "--model", .target = &model_, .doc = "name of a model, or file with a graph text"},
        {.name = "--init", .target = &init_, .doc = "safetensors file to start from"},
        {.name = "--init-preset", .target = &init_preset_, .doc = "preprocessing its weights were trained with"},
        {.name = "--input-cores",
         .target = &input_cores_,
         .doc = "cores of the decoding threads, as 0-1,4; the rest computes; shared: both have all"},
        {.name = "--partial", .target = &is_partial_, .doc = "load of --init what fits"},
        {.name = "--cache-dir",
         .target = &cache_dir_,
         .doc = "keep decoded images in a file here, for later runs too: train.cache=disk",
         .value_name = "DIR"},
        {.name = "--memory-budget",
         .target = &memory_mb_,
         .doc = "MiB for all input: train.memory_mb; 0 = half of what is left",
         .range = {0, 1e9}},
        {.name = "--seeds", .target = &seeds_, .doc = "0,1,2: a run a seed in --out/seed-0 ..., and their mean and sd"},
        {.name = "--resume",
         .target = &is_resume_,
         .doc = "go on with the run in --out, if it has begun; --recipe and --data: as told, else the run's own"},
        {.name = "--overwrite", .target = &is_overwrite_, .doc = "remove the run in --out first"},
        {.name = "--stop-after",
         .target = &stop_after_,
         .doc = "stop, as by a signal, after so many updates; 0 = never",
         .range = {.low = 0}},
        {.name = "--keys", .target = &is_keys_, .doc = "print all recipe keys and exit"}};
    return joined({own, compute_.options(), ranks_.options(), trace_.flags(), ranks_.gradient_options()});
  }

  [[nodiscard]] Folders folders() const override;
  [[nodiscard]] CommandResult run() override;

 private:
  [[nodiscard]] CommandResult train_one(train::Recipe recipe, const train::RunFolder& folder);
  [[nodiscard]] CommandResult train_seeds();
  [[nodiscard]] train::RunFolder seed_folder(std::int64_t seed) const {
    return train::RunFolder(out_ / fmt::format("seed-{}", seed));
  }
  [[nodiscard]] train::Recipe read_recipe() const;
  [[nodiscard]] train::Start check_before_data(train::Recipe& recipe, const train::RunFolder& folder) const;
  [[nodiscard]] train::Start begin(train::Recipe& recipe, const train::RunFolder& folder);
  void make_folder(const train::Recipe& recipe, const data::Dataset& dataset, const engine::Engine& engine,
                   const train::RunFolder& folder);
  [[nodiscard]] train::TrainOutcome train_in(const train::TrainJob& job);

  fs::path recipe_;
  std::vector<std::string> data_;
  fs::path out_;
  std::vector<std::string> overrides_;
  std::string model_;
  std::string init_;
  std::string init_preset_;
  std::string input_cores_;
  ComputeOptions compute_;
  fs::path cache_dir_;
  std::int64_t memory_mb_ = 0;
  bool is_partial_ = false;
  bool is_resume_ = false;
  bool is_overwrite_ = false;
  std::int64_t stop_after_ = 0;
  bool is_keys_ = false;
  RankOptions ranks_;
  TraceFlags trace_;
  std::string seeds_;
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

void require_option(const fs::path& value, std::string_view expected) {
  if (!value.empty()) return;
  throw ConfigError(error_text("cli.arguments", "train", expected, "none", "roentgen train --help"));
}

ModelShape model_shape(const train::Recipe& recipe, std::size_t labels) {
  return {.batch = recipe.train.batch,
          .channels = recipe.preprocess.channels,
          .image_px = recipe.preprocess.size_px,
          .labels = static_cast<std::int64_t>(labels)};
}

train::Recipe TrainCommand::read_recipe() const {
  train::Recipe recipe = train::read_recipe(recipe_, compute_.added_to(overrides_));
  if (!model_.empty()) set_model(recipe.model, model_);
  if (!init_.empty()) recipe.train.init = init_;
  if (!init_preset_.empty()) recipe.train.init_preset = init_preset_;
  if (!input_cores_.empty()) recipe.train.input_cores = input_cores_;
  if (is_partial_) recipe.train.partial = true;
  if (memory_mb_ > 0) recipe.train.memory_mb = memory_mb_;
  if (!cache_dir_.empty()) {
    for (const std::string& folder : data_) refuse_inside_data("--cache-dir", cache_dir_, data::folder_of(folder));
    recipe.train.cache = "disk";
    recipe.train.cache_dir = cache_dir_;
  }
  data::place_folders(recipe.data, data_);
  require_option(recipe.data.root, "--data DIR");
  return recipe;
}

// All that can be refused without a look at the data, which may take minutes to list.
train::Start TrainCommand::check_before_data(train::Recipe& recipe, const train::RunFolder& folder) const {
  const bool is_resumed = is_resume_ && fs::exists(folder.resume());
  if (is_resume_) folder.check_resumable();
  if (!is_resume_ && !is_overwrite_) folder.check_new();
  if (is_overwrite_ && !recipe.train.init.empty() && is_inside(recipe.train.init, folder.root())) {
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
  if (is_resume_) log::info("nothing to resume yet: starting anew");
  if (lock_ && (is_overwrite_ || is_resume_)) folder.remove_run();
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
  Folders folders = data_folders(data_);
  folders.made = out_;
  if (out_.empty()) return folders;
  if (seeds_.empty()) folders.own = train::RunFolder(out_).own();
  if (seeds_.empty()) return folders;
  for (const std::int64_t seed : parse_seeds(seeds_)) {
    std::ranges::move(seed_folder(seed).own(), std::back_inserter(folders.own));
  }
  folders.own.push_back(out_ / kSeedsFile);
  return folders;
}

CommandResult TrainCommand::train_seeds() {
  const std::vector<std::int64_t> seeds = parse_seeds(seeds_);
  for (const std::string& text : overrides_) {
    if (!text.starts_with("train.seed=")) continue;
    throw ConfigError(error_text("cli.arguments", "train", "--seeds or --set train.seed", "both", "--seeds alone"));
  }
  if (!is_resume_) train::RunFolder(out_).check_new();
  train::Recipe recipe = read_recipe();
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
    const bool is_skipped = is_resume_ && train::is_finished(recipe, folder);
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
  io::write_file_atomically(out_ / kSeedsFile, to_csv(table));
  json.set("auroc", to_value(table));
  return {.json = json};
}

CommandResult TrainCommand::run() {
  if (is_keys_) {
    terminal::print(train::recipe_keys());
    return {};
  }
  ignore_closed_pipes();
  if (is_resume_ && !out_.empty()) {
    train::take_from_run(seeds_.empty() ? train::RunFolder(out_) : seed_folder(parse_seeds(seeds_).front()), recipe_,
                         data_);
  }
  require_option(recipe_, "--recipe FILE");
  require_option(out_, "--out DIR");
  trace_.check();
  if (is_resume_ && is_overwrite_) {
    throw ConfigError(
        error_text("cli.arguments", "train", "--resume or --overwrite", "both", "--resume to keep what was trained"));
  }
  for (const std::string& folder : data_) refuse_inside_data("--out", out_, data::folder_of(folder));
  ranks_.is_stoppable = true;
  ranks_.after = [this] { train::RunFolder(out_).tidy_up(); };
  ranks_.recipe = [this] { return read_recipe().train; };
  return run_as_ranks(ranks_, [&](dist::CommThread* group) {
    group_ = group;
    if (group != nullptr && !seeds_.empty()) {
      throw ConfigError(error_text("cli.arguments", "--seeds", "one process, which trains them in turn",
                                   train::ranks_text(group->size()), "a run a seed, each with --ranks"));
    }
    return seeds_.empty() ? train_one(read_recipe(), train::RunFolder(out_)) : train_seeds();
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
                      .stop_after_steps = stop_after_,
                      .group = group_,
                      .trace = trace_.chosen()};
  listen_for_stop();
  const train::TrainOutcome outcome = train_in(job);
  if (!outcome.is_finished) {
    ignore_stop();  // all is saved
    terminal::print(fmt::format("stopped at step {}; go on with --resume\n", outcome.step));
    return {.json = train::outcome_value(outcome, folder), .exit_code = kStopped};
  }
  if (outcome.best_value) {
    terminal::print(fmt::format("best epoch {}: validation {} {:.4f}\n", outcome.best_epoch + 1, recipe.train.select,
                                *outcome.best_value));
  }
  terminal::print(fmt::format("weights: {}\nrun: {}\n", folder.best().string(), folder.root().string()));
  return {.json = train::outcome_value(outcome, folder)};
}

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace roentgen::cli
