// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen train: a recipe and a data folder become a run folder.
#include <fmt/format.h>

#include <optional>

#include "cli/command_list.h"
#include "cli/compute_options.h"
#include "cli/launch.h"
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
#include "eval/seed_table.h"
#include "io/file.h"
#include "io/place.h"
#include "task/model.h"
#include "task/train_run.h"
#include "train/aurocs_csv.h"
#include "train/observer.h"
#include "train/outcome_value.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/run_folder.h"
#include "train/run_origin.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSeedsFile = "seeds.csv";  // beside the seeds' folders

class TrainCommand final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "train"; }
  [[nodiscard]] std::string_view summary() const override { return "Train a classifier by a recipe."; }
  [[nodiscard]] std::string_view examples() const override {
    return "roentgen train --recipe recipes/quickstart.toml --data build/quickstart/data --out build/quickstart/run\n"
           "roentgen train --recipe recipes/default.toml --data nih --out run --set train.epochs=3 --set "
           "train.batch=16\n"
           "roentgen train --out run --resume\n"
           "roentgen train --recipe recipes/default.toml --data nih --out run2 --model my_net.txt\n"
           "roentgen train --recipe recipes/chexnet.toml --data nih --out run3 --init densenet121.safetensors "
           "--init-preset imagenet\n"
           "roentgen train --recipe recipes/default.toml --data nih --out runs --seeds 0,1,2 --resume";
  }

  [[nodiscard]] std::vector<Option> options() override {
    std::vector<Option> options{
        {.name = "--recipe", .target = &recipe_, .doc = "TOML file; recipes/ has some"},
        {.name = "--data",
         .target = &data_,
         .doc = "data folder, never written to; several, also as NAME=DIR, are read as one",
         .value_name = "DIR"},
        {.name = "--out", .target = &out_, .doc = "run folder to make", .value_name = "DIR"},
        {.name = "--set", .target = &overrides_, .doc = "section.key=value, over the recipe; may be repeated"},
        {.name = "--model", .target = &model_, .doc = "name of a model, or file with a graph text"},
        {.name = "--init", .target = &init_, .doc = "weights to start from: safetensors, .pt, .pth or .ckpt"},
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
         .least = 0,
         .most = 1e9},
        {.name = "--seeds", .target = &seeds_, .doc = "0,1,2: a run a seed in --out/seed-0 ..., and their mean and sd"},
        {.name = "--resume",
         .target = &is_resume_,
         .doc = "go on with the run in --out, if it has begun; --recipe and --data: as told, else the run's own"},
        {.name = "--overwrite", .target = &is_overwrite_, .doc = "remove the run in --out first"},
        {.name = "--stop-after",
         .target = &stop_after_,
         .doc = "stop, as by a signal, after so many updates; 0 = never",
         .least = 0},
        {.name = "--keys", .target = &is_keys_, .doc = "print all recipe keys and exit"}};
    for (Option& option : compute_.options()) options.push_back(std::move(option));
    for (Option& option : ranks_.options()) options.push_back(std::move(option));
    for (Option& option : trace_.flags()) options.push_back(std::move(option));
    for (Option& option : ranks_.gradient_options()) options.push_back(std::move(option));
    return options;
  }

  [[nodiscard]] Folders folders() const override;
  [[nodiscard]] CommandResult run() override;

 private:
  [[nodiscard]] CommandResult train_one(task::TrainRun& runs, const train::Recipe& recipe,
                                        const train::RunFolder& folder);
  [[nodiscard]] CommandResult train_seeds(task::TrainRun& runs);
  [[nodiscard]] train::RunFolder seed_folder(std::int64_t seed) const {
    return train::RunFolder(out_ / fmt::format("seed-{}", seed));
  }
  [[nodiscard]] train::Recipe read_recipe() const;

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
};

void require_option(const fs::path& value, std::string_view expected) {
  if (!value.empty()) return;
  throw ConfigError(error_text("cli.arguments", "train", expected, "none", "roentgen train --help"));
}

train::Recipe TrainCommand::read_recipe() const {
  train::Recipe recipe = train::read_recipe(recipe_, compute_.added_to(overrides_));
  if (!model_.empty()) task::set_model(recipe.model, model_);
  if (!init_.empty()) recipe.train.init = init_;
  if (!init_preset_.empty()) recipe.train.init_preset = init_preset_;
  if (!input_cores_.empty()) recipe.train.input_cores = input_cores_;
  if (is_partial_) recipe.train.partial = true;
  if (memory_mb_ > 0) recipe.train.memory_mb = memory_mb_;
  if (!cache_dir_.empty()) {
    for (const std::string& folder : data_) io::refuse_inside_data("--cache-dir", cache_dir_, data::folder_of(folder));
    recipe.train.cache = "disk";
    recipe.train.cache_dir = cache_dir_;
  }
  data::place_folders(recipe.data, data_);
  require_option(recipe.data.root, "--data DIR");
  return recipe;
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

CommandResult TrainCommand::train_seeds(task::TrainRun& runs) {
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
    static_cast<void>(runs.check(own, seed_folder(seed)));
  }
  Value json = Value::table();
  Value& told = json.set("seeds", Value::array());
  std::vector<eval::SeedAurocs> aurocs;
  for (const std::int64_t seed : seeds) {
    recipe.train.seed = seed;
    const train::RunFolder folder = seed_folder(seed);
    Value run = Value::Table{{"seed", seed}, {"run", folder.root().string()}};
    const bool is_skipped = is_resume_ && train::is_finished(recipe, folder);
    terminal::print(fmt::format("seed {}:{}\n", seed, is_skipped ? " finished before" : ""));
    if (!is_skipped) {
      const CommandResult result = train_one(runs, recipe, folder);
      if (result.exit_code != kSuccess) return result;
      for (const auto& [key, value] : result.json.as_table()) run.set(key, value);
    }
    run.set("skipped", is_skipped);
    told.push_back(std::move(run));
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
  for (const std::string& folder : data_) io::refuse_inside_data("--out", out_, data::folder_of(folder));
  ranks_.is_stoppable = true;
  ranks_.after = [this] { train::RunFolder(out_).tidy_up(); };
  ranks_.recipe = [this] { return read_recipe().train; };
  return run_as_ranks(ranks_, [&](dist::CommThread* group) {
    if (group != nullptr && !seeds_.empty()) {
      throw ConfigError(error_text("cli.arguments", "--seeds", "one process, which trains them in turn",
                                   train::ranks_text(group->size()), "a run a seed, each with --ranks"));
    }
    const auto progress =
        train::make_progress(terminal::has_progress() ? train::ProgressStyle::Line : train::ProgressStyle::Log,
                             group == nullptr ? std::vector<std::string>{} : group->hosts());
    task::TrainRun runs({.earlier = is_resume_      ? task::EarlierRun::Resume
                                    : is_overwrite_ ? task::EarlierRun::Overwrite
                                                    : task::EarlierRun::Refuse,
                         .stop_after_steps = stop_after_,
                         .trace = trace_.chosen(),
                         .group = group,
                         .observers = {progress.get()},
                         .on_data =
                             [](const data::Dataset& dataset) {
                               terminal::print(data::describe(dataset));
                               flush_output();
                             },
                         .on_start = listen_for_stop,
                         .is_stop_asked = is_stop_asked});
    return seeds_.empty() ? train_one(runs, read_recipe(), train::RunFolder(out_)) : train_seeds(runs);
  });
}

CommandResult TrainCommand::train_one(task::TrainRun& runs, const train::Recipe& recipe,
                                      const train::RunFolder& folder) {
  const train::TrainOutcome outcome = runs.train(recipe, folder);
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
