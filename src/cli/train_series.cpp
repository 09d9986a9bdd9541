// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/train_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <new>
#include <utility>

#include "cli/arguments.h"
#include "cli/failure.h"
#include "cli/model_argument.h"
#include "core/error.h"
#include "core/error_parts.h"
#include "core/log.h"
#include "core/terminal.h"
#include "eval/seed_table.h"
#include "io/file.h"
#include "score/sweep_result.h"
#include "score/truth.h"
#include "train/aurocs_csv.h"
#include "train/run_origin.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSeedsFile = "seeds.csv";  // next to the folders seed-0 and so on
constexpr const char* kSweepFile = "sweep.csv";  // in --out
constexpr std::int64_t kReplicates = 2000;       // as in `roentgen compare`

/// Calls `check` and inserts the name of a point of a sweep into its errors.
template <typename Check>
void check_named(const std::string& name, bool is_named, Check check) {
  try {
    check();
  } catch (const ConfigError& error) {
    throw ConfigError(is_named ? with_place(error.what(), name + ": ") : error.what());
  } catch (const DataError& error) {
    throw DataError(is_named ? with_place(error.what(), name + ": ") : error.what());
  }
}

}  // namespace

TrainSeries::TrainSeries(const TrainOptions& options)
    : options_(options), keys_(parse_sweep(options.sweep, options.overrides)), points_(sweep_points(keys_)) {
  std::vector<std::optional<std::int64_t>> seeds;
  if (options.seeds.empty()) seeds.emplace_back();
  if (!options.seeds.empty()) std::ranges::copy(parse_seeds(options.seeds), std::back_inserter(seeds));
  for (std::size_t point = 0; point < points_.size(); ++point) {
    for (const std::optional<std::int64_t>& seed : seeds) {
      const fs::path folder = point_folder(points_[point]);
      std::string name = points_[point].name;
      if (seed) name += fmt::format("{}seed {}", name.empty() ? "" : ", ", *seed);
      planned_.push_back({.point = point,
                          .seed = seed,
                          .folder = train::RunFolder(seed ? folder / fmt::format("seed-{}", *seed) : folder),
                          .name = std::move(name)});
    }
  }
}

fs::path TrainSeries::point_folder(const SweepPoint& point) const {
  return point.overrides.empty() ? options_.out : options_.out / point.folder;
}

std::vector<train::RunFolder> TrainSeries::folders() const {
  std::vector<train::RunFolder> folders;
  for (const Run& run : planned_) folders.push_back(run.folder);
  return folders;
}

Paths TrainSeries::own() const {
  Paths own;
  for (const Run& run : planned_) std::ranges::move(run.folder.own(), std::back_inserter(own));
  if (!options_.seeds.empty()) {
    for (const SweepPoint& point : points_) own.push_back(point_folder(point) / kSeedsFile);
  }
  if (!keys_.empty()) own.push_back(options_.out / kSweepFile);
  return own;
}

std::vector<TrainSeries::Run> TrainSeries::checked_runs(const task::TrainRun& runs) const {
  for (const std::string& text : options_.overrides) {
    if (options_.seeds.empty() || !text.starts_with("train.seed=")) continue;
    refuse_arguments("train", "--seeds or --set train.seed", "both", "--seeds alone");
  }
  if (!options_.is_resume) train::RunFolder(options_.out).check_new();
  std::vector<Run> all = planned_;
  std::map<std::string, const Run*> by_recipe;
  for (Run& run : all) {
    run.recipe = options_.read_recipe(points_[run.point].overrides);
    if (run.seed) run.recipe.train.seed = *run.seed;
    const auto [same, is_new] = by_recipe.emplace(train::to_toml(run.recipe), &run);
    if (is_new) continue;
    refuse_arguments("train --sweep", "another recipe for each combination of values",
                     fmt::format("the same one for {} and {}", same->second->name, run.name),
                     "other values, and no option that sets the same key");
  }
  for (const Run& run : all) {
    check_named(run.name, !keys_.empty(), [&] {
      run.folder.check_place();
      train::Recipe own = run.recipe;
      static_cast<void>(runs.check(own, run.folder));
    });
  }
  return all;
}

Value TrainSeries::run_value(const Run& run) const {
  Value value = Value::table();
  const SweepPoint& point = points_[run.point];
  for (std::size_t i = 0; i < keys_.size(); ++i) value.set(keys_[i].key, point.values[i]);
  if (run.seed) value.set("seed", *run.seed);
  value.set("run", run.folder.root().string());
  return value;
}

CommandResult TrainSeries::train(Run& run, const TrainOne& train_one) const {
  if (keys_.empty()) return train_one(run.recipe, run.folder);
  try {
    return train_one(run.recipe, run.folder);
  } catch (const Error&) {  // such as a loss that is not finite
    run.failed = cli::failure_of(std::current_exception()).text;
  } catch (const std::bad_alloc&) {
    run.failed = cli::failure_of(std::current_exception()).text;
  }
  log::error(run.name + ": " + run.failed);
  return {.json = Value::table(), .exit_code = kFailure};
}

std::string TrainSeries::failure_of(const std::vector<Run>& runs, std::size_t point) {
  for (const Run& run : runs) {
    if (run.point != point || run.failed.empty()) continue;
    return run.seed ? fmt::format("seed {}: {}", *run.seed, run.failed) : run.failed;
  }
  return {};
}

CommandResult TrainSeries::run(const task::TrainRun& runs, const TrainOne& train_one) const {
  std::vector<Run> all = checked_runs(runs);
  Value json = Value::table();
  Value& entries = json.set(keys_.empty() ? "seeds" : "runs", Value::array());
  int exit_code = kSuccess;
  for (Run& run : all) {
    const bool is_skipped = options_.is_resume && train::is_finished(run.recipe, run.folder);
    const std::string count = keys_.empty() ? "" : fmt::format("run {} of {}, ", &run - all.data() + 1, all.size());
    terminal::print(fmt::format("{}{}:{}\n", count, run.name, is_skipped ? " finished before" : ""));
    Value value = run_value(run);
    if (!is_skipped) {
      const CommandResult result = train(run, train_one);
      if (!run.failed.empty()) exit_code = result.exit_code;
      if (run.failed.empty() && result.exit_code != kSuccess) return result;
      for (const auto& [key, entry] : result.json.as_table()) value.set(key, entry);
    }
    value.set("skipped", is_skipped);
    if (!keys_.empty()) value.set("failed", run.failed);
    entries.push_back(std::move(value));
  }
  const auto is_readable = [](const Run& run) { return !run.failed.empty() || fs::exists(run.folder.aurocs()); };
  if (!std::ranges::all_of(all, is_readable)) {
    terminal::print("no validation, so there are no metrics to average\n");
    return {.json = json, .exit_code = exit_code};
  }
  if (!options_.seeds.empty()) add_seeds(all, json);
  if (!keys_.empty()) add_sweep(all, json);
  return {.json = json, .exit_code = exit_code};
}

// Table of the seeds of one point. Without --seeds, it has one column.
eval::SeedTable TrainSeries::seed_table(const std::vector<Run>& runs, std::size_t point) {
  std::vector<eval::SeedAurocs> aurocs;
  for (const Run& run : runs) {
    if (run.point != point) continue;
    aurocs.push_back({run.recipe.train.seed, train::read_aurocs(run.folder.aurocs())});
  }
  return eval::make_seed_table(aurocs);
}

// Writes a table of the seeds of every point without failures. Without --sweep, prints it.
void TrainSeries::add_seeds(const std::vector<Run>& runs, Value& json) const {
  for (std::size_t point = 0; point < points_.size(); ++point) {
    if (!failure_of(runs, point).empty()) continue;
    const eval::SeedTable table = seed_table(runs, point);
    io::write_file_atomically(point_folder(points_[point]) / kSeedsFile, to_csv(table));
    if (!keys_.empty()) continue;
    terminal::print(fmt::format("\n{}", to_text(table)));
    json.set("auroc", to_value(table));
  }
}

// Matches the predictions of the points without failures with the true labels, which are read as `roentgen compare`
// reads them.
std::vector<score::ComparedSide> TrainSeries::sides_of(const std::vector<Run>& runs) const {
  const train::Recipe& first = runs.front().recipe;
  std::optional<score::Truth> truth;
  std::vector<score::ComparedSide> sides;
  for (std::size_t point = 0; point < points_.size(); ++point) {
    if (!failure_of(runs, point).empty()) continue;
    std::vector<fs::path> paths;
    for (const Run& run : runs) {
      if (run.point == point) paths.push_back(run.folder.root());
    }
    std::vector<score::ComparedModel> models = read_models(points_[point].name, paths);
    const score::ComparedModel reference = sides.empty() ? models.front() : sides.front().models.front();
    if (!truth) {
      const std::vector<std::string>& labels = reference.predictions.labels;
      truth = score::read_truth(first.data.root, labels, first.data, options_.overrides);
    }
    sides.push_back(score::make_side(points_[point].name, std::move(models), *truth, reference));
  }
  return sides;
}

void TrainSeries::add_sweep(const std::vector<Run>& runs, Value& json) const {
  score::SweepResult result;
  for (const SweptKey& swept : keys_) result.keys.push_back(swept.key);
  for (std::size_t point = 0; point < points_.size(); ++point) {
    score::SweepRow& row = result.rows.emplace_back(score::SweepRow{.values = points_[point].values,
                                                                    .folder = point_folder(points_[point]).string(),
                                                                    .failed = failure_of(runs, point)});
    if (!row.failed.empty()) continue;
    const eval::SeedRow mean = seed_table(runs, point).rows.back();
    row.mean = mean.mean;
    row.sd = mean.sd;
  }
  const eval::BootstrapOptions bootstrap{.replicates = kReplicates,
                                         .threads = train::compute_threads(runs.front().recipe.train)};
  try {
    const std::vector<score::ComparedSide> sides = sides_of(runs);
    if (sides.empty()) result.reason = "every run failed";
    if (!sides.empty()) score::compare_points(result, sides, bootstrap);
  } catch (const ConfigError& error) {  // such as other labels
    result.reason = error.what();
  } catch (const DataError& error) {  // such as other validation images
    result.reason = error.what();
  }
  terminal::print(fmt::format("\n{}", to_text(result)));
  io::write_file_atomically(options_.out / kSweepFile, to_csv(result));
  json.set("sweep", to_value(result));
}

}  // namespace roentgen::cli
