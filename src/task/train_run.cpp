// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/train_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "core/plural.h"
#include "data/source/options.h"
#include "engine/engine.h"
#include "io/place.h"
#include "publish/torchvision.h"
#include "runtime/device_monitor.h"
#include "task/model.h"
#include "train/checkpoint_place.h"
#include "train/compile_run.h"
#include "train/early_checks.h"
#include "train/own_device.h"
#include "train/ranks.h"
#include "train/resume.h"
#include "train/run_id.h"
#include "train/run_origin.h"
#include "train/servers/shards.h"

namespace roentgen::task {
namespace {

namespace fs = std::filesystem;

ModelShape model_shape(const train::Recipe& recipe, std::size_t labels) {
  return {.batch = recipe.train.batch,
          .channels = recipe.preprocess.channels,
          .image_px = recipe.preprocess.size_px,
          .labels = static_cast<std::int64_t>(labels)};
}

// Largest number of gradient buckets that a run can have. Until the data define the number of labels, each parameter
// whose size depends on it may need a bucket more than with a single label.
std::int64_t most_server_buckets(const train::Recipe& recipe, engine::Engine& engine) {
  const std::size_t labels = recipe.data.labels.size();
  const graph::Graph model = make_model(recipe.model, model_shape(recipe, std::max(labels, 1UL)));
  std::int64_t most = train::count_server_buckets(recipe, model, engine);
  if (labels > 0) return most;
  const graph::Graph larger = make_model(recipe.model, model_shape(recipe, 2));
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    if (model.parameters()[i].shape != larger.parameters()[i].shape) ++most;
  }
  return most;
}

void warn_left_out(const data::Dataset& dataset) {
  if (dataset.left_out_images == 0) return;
  log::warning(fmt::format("{} in the data folder not read; roentgen inspect says why",
                           counted(dataset.left_out_images, "image file")));
}

}  // namespace

train::Start TrainRun::check(train::Recipe& recipe, const train::RunFolder& folder) const {
  const bool is_resumed = options_.earlier == EarlierRun::Resume && fs::exists(folder.resume());
  if (options_.earlier == EarlierRun::Resume) folder.check_resumable();
  if (options_.earlier == EarlierRun::Refuse) folder.check_new();
  if (options_.earlier != EarlierRun::Overwrite) folder.check_own();
  if (options_.earlier == EarlierRun::Overwrite && !recipe.train.init.empty() &&
      io::is_inside(recipe.train.init, folder.root())) {
    throw ConfigError(error_text("train.run", "--overwrite",
                                 "initial weights outside the run folder, which --overwrite deletes", recipe.train.init,
                                 "copying the file to another folder, or another --out"));
  }
  static_cast<void>(train::compute_threads(recipe.train));  // throws if train.threads exceeds the number of cores
  static_cast<void>(train::keeps_on_disk(recipe.train));
  train::check_dtype(recipe.train);
  train::check_server_recipe(options_.servers, recipe.train, train::Ranks(options_.group).size());
  // The number of labels is not known yet; any number shows faults of the model.
  const graph::Graph model = make_model(recipe.model, model_shape(recipe, std::max(recipe.data.labels.size(), 1UL)));
  train::check_model(recipe, model, train::Ranks(options_.group).size());
  if (is_resumed) {
    train::check_resumed_recipe(recipe, folder);
    return train::Start::Resume;
  }
  train::check_init(recipe, model);
  return train::Start::Fresh;
}

// Only rank 0 touches the run folder; it broadcasts whether the run starts or resumes. A resumed run keeps the rule by
// which its splits were drawn.
train::Start TrainRun::begin(train::Recipe& recipe, const train::RunFolder& folder, engine::Engine& engine) {
  lock_.reset();
  is_made_ = false;
  const train::Ranks ranks(options_.group);
  std::string rule;  // split rule of a resumed run; empty for a new run
  if (ranks.is_first()) {
    folder.check_place();
    train::check_checkpoint_dir(folder, options_.checkpoint_dir);
    if (fs::is_directory(folder.root())) lock_.emplace(folder.root());
    if (options_.earlier == EarlierRun::Resume) train::take_local_checkpoints(folder, options_.checkpoint_dir);
    const train::Start start = check(recipe, folder);
    // A resumed run may use the kernels of another machine, which may have other buckets.
    if (start == train::Start::Fresh && options_.servers.servers > 1) {
      train::require_buckets(most_server_buckets(recipe, engine), options_.servers.servers);
    }
    if (lock_) folder.remove_leftovers();
    if (start == train::Start::Resume) {
      train::ensure_run_id(folder);
      rule = train::read_checkpoint_info(folder.resume()).split_rule == data::SplitRule::Normal ? "normal" : "written";
    }
  }
  rule = ranks.broadcast(rule, {.name = "start"});
  recipe.train.algorithms = ranks.broadcast(recipe.train.algorithms, {.name = "start"});
  if (rule.empty()) return train::Start::Fresh;
  data::set_split_rule(recipe.data, rule == "normal" ? data::SplitRule::Normal : data::SplitRule::Written);
  return train::Start::Resume;
}

void TrainRun::make_folder(const train::Recipe& recipe, const engine::Engine& engine, const train::RunFolder& folder) {
  if (options_.earlier == EarlierRun::Resume) log::info("no run to resume: starting a new one");
  if (lock_ && options_.earlier != EarlierRun::Refuse) folder.remove_run();
  if (!lock_) {
    std::error_code ignored;  // the lock reports why the folder is missing
    fs::create_directories(folder.root(), ignored);
    lock_.emplace(folder.root());
  }
  folder.create_new();
  train::remove_local_checkpoints(folder, options_.checkpoint_dir);
  is_made_ = true;
  train::write_origin(folder, recipe, *dataset_, engine);
}

// A run that fails before its first update leaves nothing behind.
train::TrainOutcome TrainRun::train_in(const train::TrainJob& job) {
  try {
    return train::train(job);
  } catch (...) {
    std::error_code ignored;
    if (is_made_ && lock_->is_named() && (!fs::exists(job.folder.log()) || fs::is_empty(job.folder.log(), ignored))) {
      job.folder.remove_run();
      lock_.reset();
      fs::remove(job.folder.checkpoints(), ignored);  // removes both only when empty
      fs::remove(job.folder.root(), ignored);
    }
    throw;
  }
}

const data::Dataset& TrainRun::load_data(const train::Recipe& recipe) {
  Value section = data::to_value(recipe.data);
  if (!dataset_ || dataset_rule_ != recipe.data.split.rule || dataset_section_ != section) {
    dataset_ = data::load_dataset(recipe.data);
    dataset_section_ = std::move(section);
    dataset_rule_ = recipe.data.split.rule;
    if (train::Ranks(options_.group).is_first()) warn_left_out(*dataset_);
    if (options_.on_data) options_.on_data(*dataset_);
  }
  if (dataset_->label_names.empty()) {
    throw ConfigError(error_text("cli.train", dataset_->root.string(), "a data set with labels",
                                 "images without labels", "adding a labels.csv; roentgen predict needs no labels"));
  }
  return *dataset_;
}

train::TrainOutcome TrainRun::train(train::Recipe recipe, const train::RunFolder& folder) {
  recipe.train.device = engine::resolve_device(engine::parse_device(recipe.train.device)).text();
  const auto engine = engine::make_engine(options_.device ? *options_.device : train::own_device(recipe.train.device));
  if (!options_.may_share_device) train::require_own_device(train::Ranks(options_.group), *engine);
  const train::Start start = begin(recipe, folder, *engine);
  const data::Dataset& dataset = load_data(recipe);
  const graph::Graph model = make_model(recipe.model, model_shape(recipe, dataset.label_names.size()));
  log::info(fmt::format("{}: {} parameters; {}", model.name(), model.trained_elements(), engine->description()));
  log::debug(fmt::format("input {}; augmentation {}", recipe.preprocess.text(), recipe.augment.text()));
  if (const std::string note = publish::torchvision_note(recipe); !note.empty()) log::debug(note);
  const bool is_first = train::Ranks(options_.group).is_first();
  const std::string bus = is_first ? runtime::bus_of(engine->device_id()) : "";
  const auto monitor = bus.empty() ? nullptr : runtime::make_nvml_monitor(bus);
  const train::TrainJob job{.recipe = recipe,
                            .dataset = dataset,
                            .model = model,
                            .engine = *engine,
                            .folder = folder,
                            .start = start,
                            .observers = is_first ? options_.observers : std::vector<train::Observer*>{},
                            .on_ready =
                                [&] {
                                  if (start == train::Start::Fresh) make_folder(recipe, *engine, folder);
                                },
                            .is_stop_asked = options_.is_stop_asked,
                            .stop_after_steps = options_.stop_after_steps,
                            .checkpoint_dir = options_.checkpoint_dir,
                            .group = options_.group,
                            .device_monitor = monitor.get(),
                            .servers = options_.servers,
                            .trace = options_.trace};
  if (options_.on_start) options_.on_start();
  return train_in(job);
}

}  // namespace roentgen::task
