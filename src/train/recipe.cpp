// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "core/error.h"
#include "core/error_parts.h"
#include "data/source/options.h"
#include "dist/launched.h"
#include "engine/device.h"
#include "graph/loss.h"
#include "graph/passes/pass_list.h"
#include "io/file.h"
#include "io/toml.h"
#include "runtime/cores.h"
#include "runtime/placement.h"
#include "runtime/team.h"
#include "train/field.h"
#include "train/optimizer/optimizer.h"
#include "train/schedule/schedule.h"

namespace roentgen::train {
namespace {

// Former name of train.device; older recipes and run folders contain it.
constexpr std::string_view kEarlierDevice = "train.engine";
constexpr std::string_view kDevice = "train.device";

// Renames keys of older versions to their present names.
Value with_present_keys(Value table, std::string_view what) {
  if (table.find_path(kEarlierDevice) == nullptr) return table;
  if (table.find_path(kDevice) != nullptr) {
    throw ConfigError(error_text("train.recipe", fmt::format("{}: {}", what, kEarlierDevice),
                                 fmt::format("only {}, the present name of this key", kDevice), "both",
                                 "removing one of them"));
  }
  for (auto& [section, keys] : table.as_table()) {
    if (section != "train") continue;
    for (auto& [name, value] : keys.as_table()) {
      if (name == "engine") name = "device";
    }
  }
  return table;
}

// Sets "section.key=value" in the table.
void apply_override(Value& table, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t dot = text.find('.');
  if (equals == std::string::npos || dot == std::string::npos || dot > equals || dot == 0 || dot + 1 == equals) {
    throw ConfigError(error_text("train.recipe", "--set " + text, "section.key=value", text,
                                 "roentgen train --keys for all keys and what they take"));
  }
  std::string key = text.substr(0, equals);
  Value value = io::parse_toml_value(text.substr(equals + 1), "--set " + key).or_throw<ConfigError>();
  if (key == kEarlierDevice) key = kDevice;
  try {
    table.set_path(key, std::move(value));
  } catch (const Error& error) {  // the override sets a key inside a value that is no table
    throw ConfigError(error_text("train.recipe", "--set " + key, "a key of a section", cause_of(error.what()),
                                 "roentgen train --keys for all keys"));
  }
}

ForeignSections foreign_sections(const Recipe& recipe) {
  return {.data = data::to_value(recipe.data),
          .preprocess = recipe.preprocess.to_value(),
          .augment = recipe.augment.to_value()};
}

// Calls `read`, which parses a section in another component, and adds the file name to its errors.
template <typename Read>
auto read_section(std::string_view what, std::string_view section, Read read) {
  try {
    return read();
  } catch (const ConfigError& error) {
    const bool has_section = error_parts(error.what()).what.starts_with(fmt::format("{}.", section));
    throw ConfigError(
        with_place(error.what(), has_section ? fmt::format("{}: ", what) : fmt::format("{}: {}.", what, section)));
  }
}

std::string error_in(const Value& table, std::string_view what) {
  try {
    static_cast<void>(recipe_from_value(table, what));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

// Finds the origin of an error: the override that caused it, or else the file.
std::string place_of(const std::string& error, Value table, std::string_view what,
                     std::span<const std::string> overrides) {
  constexpr std::size_t kLongest = 80;
  std::string place(what);
  std::string before = error_in(table, what);
  for (const std::string& text : overrides) {
    apply_override(table, text);
    std::string now = error_in(table, what);
    if (now == error && before != error) {
      place = "--set " + (text.size() > kLongest ? text.substr(0, kLongest - 3) + "..." : text);
    }
    before = std::move(now);
  }
  return place;
}

std::int64_t to_steps(double epochs, std::int64_t steps_per_epoch) {
  return static_cast<std::int64_t>(std::llround(epochs * static_cast<double>(steps_per_epoch)));
}

}  // namespace

Recipe recipe_from_value(const Value& table, std::string_view what) {
  Recipe recipe;
  ForeignSections foreign = foreign_sections(recipe);
  recipe_fields(recipe, foreign).read(with_present_keys(table, what), what);
  read_section(what, "train", [&] { static_cast<void>(engine::parse_device(recipe.train.device)); });
  read_section(what, "train", [&] { graph::check_passes(recipe.train.fuse); });
  read_section(what, "train", [&] { static_cast<void>(training_pipeline(recipe.train)); });
  recipe.data = read_section(what, "data", [&] { return data::source_options_from_value(foreign.data, {}); });
  recipe.preprocess = read_section(what, "preprocess", [&] { return data::preprocess_from_value(foreign.preprocess); });
  recipe.augment = read_section(what, "augment", [&] { return data::augment_from_value(foreign.augment); });
  if (recipe.augment.is_crop_random && !recipe.preprocess.is_cut()) {
    throw ConfigError(error_text("train.recipe", fmt::format("{}: augment.random_crop", what),
                                 "preprocess.resize above preprocess.size, as random crops need",
                                 fmt::format("{}", recipe.preprocess.resize_px), "--set preprocess.resize=256"));
  }
  return recipe;
}

Recipe parse_recipe(std::string_view toml, std::string_view what, std::span<const std::string> overrides) {
  Value table = io::parse_toml(toml, what).or_throw<ConfigError>();
  table = table.is_null() ? Value::table() : with_present_keys(std::move(table), what);
  const Value written = table;
  for (const std::string& text : overrides) apply_override(table, text);
  const std::string error = overrides.empty() ? "" : error_in(table, what);
  return recipe_from_value(table, error.empty() ? std::string(what) : place_of(error, written, what, overrides));
}

Recipe read_recipe(const std::filesystem::path& path, std::span<const std::string> overrides) {
  constexpr std::uint64_t kLimitBytes = 1U << 20;
  return parse_recipe(io::read_text(path, kLimitBytes).or_throw<ConfigError>(), path.string(), overrides);
}

Value to_value(const Recipe& recipe) {
  Recipe copy = recipe;  // FieldList needs variables that it could write to
  ForeignSections foreign = foreign_sections(recipe);
  return recipe_fields(copy, foreign).value();
}

std::string to_toml(const Recipe& recipe) { return io::to_toml(to_value(recipe)); }

std::string recipe_keys() {
  Recipe recipe;
  ForeignSections foreign = foreign_sections(recipe);
  return recipe_fields(recipe, foreign).text();
}

std::int64_t asked_threads(const TrainRecipe& recipe) {
  return recipe.threads > 0 ? recipe.threads : runtime::asked_compute_threads();
}

TrainRecipe sharing_cores(TrainRecipe recipe) {
  recipe.input_cores = kSharedCores;
  return recipe;
}

TrainCores train_cores(const TrainRecipe& recipe) {
  if (recipe.input_cores == kSharedCores) return {};
  if (recipe.input_cores.empty()) {
    const auto launched = dist::launched_rank();
    if (!launched || launched->size == 1 || !engine::parse_device(recipe.device).is_host()) return {};
    const auto cores = runtime::by_physical_core(runtime::cores_of_process());
    if (!runtime::are_own(cores, launched->local_size)) return {};
    const auto placed = runtime::place(cores, {.has_input = true, .threads = asked_threads(recipe)});
    if (placed.input.empty()) return {};
    return {.input = placed.input, .compute = placed.compute};
  }
  runtime::CoreList input = runtime::parse_core_list(recipe.input_cores);
  runtime::CoreList compute = runtime::other_cores(input);
  return {.input = std::move(input), .compute = std::move(compute)};
}

int compute_threads(const TrainRecipe& recipe) {
  const runtime::CoreList cores = train_cores(recipe).compute;
  if (recipe.threads <= 0) {
    return runtime::given_team(cores.empty() ? runtime::default_compute_threads() : runtime::physical_cores(cores));
  }
  // More OpenMP threads than cores spin-wait for each other, which is slower by orders of magnitude.
  const int most = cores.empty() ? runtime::available_hardware_threads() : static_cast<int>(cores.size());
  if (recipe.threads > most) {
    throw ConfigError(error_text("train.recipe", "threads",
                                 fmt::format("at most the {} CPU threads of this process", most),
                                 fmt::to_string(recipe.threads), "fewer, or 0 for all cores"));
  }
  return runtime::given_team(static_cast<int>(recipe.threads));
}

int decode_workers(const TrainRecipe& recipe) {
  if (recipe.workers > 0) return static_cast<int>(recipe.workers);
  const runtime::CoreList cores = train_cores(recipe).input;
  return cores.empty() ? runtime::available_cores() : runtime::physical_cores(cores);
}

bool keeps_on_disk(const TrainRecipe& recipe) {
  if (recipe.cache == "disk" || training_pipeline(recipe).is_kept_on_disk()) return true;
  if (recipe.cache_px == 0) return false;
  throw ConfigError(error_text("train.recipe", "train.cache_px", "train.cache=disk, which it needs", recipe.cache,
                               "--set train.cache=disk"));
}

data::Pipeline training_pipeline(const TrainRecipe& recipe) {
  if (recipe.pipeline == "default") return data::training_pipeline(data::parse_tail(recipe.tail));
  const data::Pipeline pipeline = data::parse_pipeline(recipe.pipeline);
  if (recipe.tail != TrainRecipe{}.tail) {
    throw ConfigError(error_text("train.recipe", "train.tail", "no train.tail if train.pipeline is set", recipe.tail,
                                 fmt::format("writing shard(tail={}) in train.pipeline", recipe.tail)));
  }
  for (const data::Stage& stage : pipeline.stages()) {
    const auto* repeat = std::get_if<data::RepeatStage>(&stage);
    if (repeat != nullptr && repeat->times == 0) return pipeline;
  }
  throw ConfigError(error_text("train.recipe", "train.pipeline", "a stage repeat without a number", "none",
                               "adding it: ... | repeat | map_and_batch | prefetch"));
}

ScheduleOptions schedule_options(const Recipe& recipe, std::int64_t steps_per_epoch, int ranks) {
  const ScheduleRecipe& schedule = recipe.schedule;
  const auto images = static_cast<double>(recipe.train.batch * recipe.train.accumulate * ranks);
  const std::int64_t lr_batch = recipe.optimizer.lr_batch;
  const double growth = lr_batch > 0 ? images / static_cast<double>(lr_batch) : 1.0;
  ScheduleOptions options{.base_lr = recipe.optimizer.lr * growth,
                          .total_steps = std::max<std::int64_t>(recipe.train.epochs * steps_per_epoch, 1),
                          .warmup_steps = to_steps(schedule.warmup_epochs, steps_per_epoch),
                          .warmup_start = schedule.warmup_start,
                          .milestones_steps = {},
                          .gamma = schedule.gamma,
                          .final_share = schedule.final_share,
                          .power = schedule.power,
                          .patience = schedule.patience,
                          .min_delta = schedule.min_delta};
  for (const double epochs : schedule.milestones_epochs) {
    options.milestones_steps.push_back(to_steps(epochs, steps_per_epoch));
  }
  return options;
}

graph::LossConfig loss_config(const LossRecipe& recipe, const data::SplitSummary& training) {
  graph::LossConfig config{.kind = recipe.name,
                           .reduction = recipe.reduction,
                           .label_smoothing = recipe.label_smoothing,
                           .positive_weights = {}};
  if (recipe.positive_weights == "none") return config;
  constexpr double kLargest = 100.0;
  for (const data::LabelCounts& counts : training.labels) {
    const bool has_both = counts.positives > 0 && counts.negatives > 0;
    const double ratio = has_both ? static_cast<double>(counts.negatives) / static_cast<double>(counts.positives) : 1.0;
    config.positive_weights.push_back(std::clamp(ratio, 1.0 / kLargest, kLargest));
  }
  return config;
}

}  // namespace roentgen::train
