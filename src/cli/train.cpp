// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen train: trains on a data folder with the settings of a recipe and writes a run folder.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "cli/arguments.h"
#include "cli/command_list.h"
#include "cli/device_threads.h"
#include "cli/launch.h"
#include "cli/output_file.h"
#include "cli/run_summary.h"
#include "cli/standard_output.h"
#include "cli/stop_signals.h"
#include "cli/train_options.h"
#include "cli/train_series.h"
#include "core/error.h"
#include "core/log.h"
#include "core/plural.h"
#include "core/terminal.h"
#include "data/source/dataset.h"
#include "data/source/describe.h"
#include "dist/comm_thread.h"
#include "task/train_run.h"
#include "train/aurocs_csv.h"
#include "train/checkpoint_place.h"
#include "train/lock_wait.h"
#include "train/observer.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/run_folder.h"
#include "train/run_origin.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

// Time limit for a restart to wait for the lock of the run. Longer than the 90 s for which Linux's NFS server by
// default keeps the locks of a lost host.
constexpr std::chrono::seconds kLockLimit{120};

class TrainCommand final : public Command {
 public:
  TrainCommand()
      : Command("train", "Train a classifier with the settings of a recipe.",
                "roentgen train --recipe quickstart --data build/quickstart/data --out build/quickstart/run\n"
                "roentgen train --recipe default --data nih --out run --set train.epochs=3 --set "
                "train.batch=16\n"
                "roentgen train --out run --resume") {}

  [[nodiscard]] bool needs_options() const override { return true; }
  [[nodiscard]] std::vector<Option> options() override { return options_.list(); }
  [[nodiscard]] Folders folders() const override;
  [[nodiscard]] CommandResult run() override;

 private:
  [[nodiscard]] CommandResult train_one(task::TrainRun& runs, const train::Recipe& recipe,
                                        const train::RunFolder& folder) const;
  [[nodiscard]] RestartOptions restart_options() const;
  [[nodiscard]] bool is_single() const { return options_.seeds.empty() && options_.sweep.empty(); }

  TrainOptions options_;
  bool has_test_images_ = false;
};

Folders TrainCommand::folders() const {
  Folders folders = data_folders(options_.data);
  folders.made = options_.out;
  if (options_.out.empty()) return folders;
  folders.own = is_single() ? train::RunFolder(options_.out).own() : TrainSeries(options_).own();
  return folders;
}

// Returns how to restart: by resuming the run in --out. With --overwrite, an old run in --out is not resumed. Without
// --resume and --overwrite, throws ConfigError for an old run, because a rank that fails early cannot refuse it.
RestartOptions TrainCommand::restart_options() const {
  const train::RunFolder folder(options_.out);
  if (options_.ranks.restart.most > 0 && !options_.is_resume && !options_.is_overwrite) folder.check_new();
  const auto begun = [recipe = folder.recipe()] {
    std::error_code error;
    const fs::file_time_type time = fs::last_write_time(recipe, error);
    return error ? fs::file_time_type::min() : time;
  };
  const auto is_own = [is_replaced = options_.is_overwrite, before = begun(), begun] {
    return !is_replaced || begun() != before;
  };
  const auto saved_step = [folder, is_own, local = options_.checkpoint_dir]() -> std::int64_t {
    return is_own() ? train::newest_step(folder, local) : -1;
  };
  const auto resumed = [is_own, is_resume = options_.is_resume](std::vector<std::string> command) {
    if (!is_own() || is_resume || std::ranges::find(command, "--resume") != command.end()) return command;
    std::erase(command, "--overwrite");
    command.emplace_back("--resume");
    return command;
  };
  const auto wait_until_free = [folder] {
    return train::wait_for_lock(folder.root(), kLockLimit, [&] {
      log::warning(fmt::format("restart: waits up to {} s for a process that still uses {}", kLockLimit.count(),
                               folder.root().string()));
    });
  };
  return {.most = options_.ranks.restart.most,
          .saved_step = saved_step,
          .wait_until_free = wait_until_free,
          .resumed = resumed};
}

CommandResult TrainCommand::run() {
  if (options_.is_keys) {
    terminal::print(train::recipe_keys());
    return {};
  }
  ignore_closed_pipes();
  if (options_.is_verbose) log::set_level(log::Level::Debug);
  if (options_.is_resume && !options_.out.empty()) {
    train::take_from_run(is_single() ? train::RunFolder(options_.out) : TrainSeries(options_).folders().front(),
                         options_.recipe, options_.data);
  }
  options_.check();
  options_.ranks.is_stoppable = true;
  options_.ranks.ends_together = options_.checkpoint_dir.empty();  // else rank 0 copies its last checkpoint
  options_.ranks.devices = parse_devices(options_.devices);
  options_.ranks.restart = restart_options();
  options_.ranks.after = [this] { train::RunFolder(options_.out).tidy_up(); };
  options_.ranks.recipe = [this] { return options_.read_recipe().train; };
  return run_as_ranks(options_.ranks, [&](dist::CommThread* group) {
    if (group != nullptr && !is_single()) {
      const bool is_sweep = !options_.sweep.empty();
      refuse_arguments(is_sweep ? "--sweep" : "--seeds",
                       fmt::format("a single process, which trains one {} after another", is_sweep ? "value" : "seed"),
                       train::ranks_text(group->size()),
                       fmt::format("one run per {}, each with --ranks", is_sweep ? "value" : "seed"));
    }
    if (const std::string note = options_.device_note(); !note.empty()) log::info(note);
    const auto progress =
        train::make_progress(terminal::has_progress() ? train::ProgressStyle::Line : train::ProgressStyle::Log,
                             group == nullptr ? std::vector<std::string>{} : group->hosts());
    task::TrainRun runs({.earlier = options_.is_resume      ? task::EarlierRun::Resume
                                    : options_.is_overwrite ? task::EarlierRun::Overwrite
                                                            : task::EarlierRun::Refuse,
                         .stop_after_steps = options_.stop_after,
                         .checkpoint_dir = options_.checkpoint_dir,
                         .trace = options_.is_traced ? std::optional(options_.trace) : std::nullopt,
                         .group = group,
                         .servers = train::parse_server_options(options_.ranks.servers),
                         .observers = {progress.get()},
                         .on_data =
                             [this, group](const data::Dataset& dataset) {
                               if (!train::Ranks(group).is_first()) return;
                               has_test_images_ =
                                   std::ranges::count(dataset.samples, data::Split::Test, &data::Sample::split) > 0;
                               terminal::print(data::describe(dataset));
                               flush_output();
                             },
                         .on_start = listen_for_stop,
                         .is_stop_asked = is_stop_asked,
                         .may_share_device = options_.ranks.may_share_device,
                         .device = device_of(options_.ranks, group)});
    if (is_single()) return train_one(runs, options_.read_recipe(), train::RunFolder(options_.out));
    return TrainSeries(options_).run(runs, [&](const train::Recipe& recipe, const train::RunFolder& folder) {
      return train_one(runs, recipe, folder);
    });
  });
}

CommandResult TrainCommand::train_one(task::TrainRun& runs, const train::Recipe& recipe,
                                      const train::RunFolder& folder) const {
  const train::TrainOutcome outcome = runs.train(recipe, folder);
  if (!outcome.is_finished) {
    ignore_stop();  // all is saved
    terminal::print(fmt::format("stopped at step {}; resume with --resume\n", outcome.step));
    return {.json = train::to_value(outcome, folder), .exit_code = kStopped};
  }
  if (outcome.loss_scale && outcome.loss_scale->skipped > 0) {
    terminal::print(fmt::format("{} skipped by overflow; loss scale {:g}\n",
                                counted(outcome.loss_scale->skipped, "update"), outcome.loss_scale->scale));
  }
  if (outcome.device) terminal::print(train::device_text(*outcome.device) + "\n");
  if (outcome.best_value) {
    terminal::print(fmt::format("best epoch {}: validation {} {:.4f}\n", outcome.best_epoch + 1, recipe.train.select,
                                *outcome.best_value));
  }
  if (is_single() && fs::exists(folder.aurocs())) terminal::print(finding_table(train::read_aurocs(folder.aurocs())));
  terminal::print(fmt::format("weights: {}\nrun: {}\n", folder.best().string(), folder.root().string()));
  if (is_single()) terminal::print(next_command(folder.best(), options_.data, has_test_images_));
  return {.json = train::to_value(outcome, folder)};
}

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace roentgen::cli
