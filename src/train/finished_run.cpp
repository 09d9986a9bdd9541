// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/finished_run.h"

#include <charconv>
#include <map>

#include "core/error.h"
#include "io/json.h"
#include "train/recipe.h"
#include "train/resume.h"
#include "train/run_folder.h"

namespace roentgen::train {

namespace fs = std::filesystem;
namespace {

std::optional<RunGroup> group_of(const RunFolder& folder, const Recipe& recipe) {
  if (!fs::exists(folder.resume())) return std::nullopt;
  try {
    const std::vector<RunLeg> legs = read_run_state(folder.resume()).legs;
    if (legs.empty()) return std::nullopt;
    const RunLeg& last = legs.back();
    return RunGroup{.ranks = last.ranks, .images_per_update = last.ranks * last.batch * recipe.train.accumulate};
  } catch (const ConfigError&) {
    return std::nullopt;  // no error, because a comparison needs only the predictions
  }
}

}  // namespace

FinishedRun read_finished_run(const fs::path& path) {
  const RunFolder folder(path);
  FinishedRun run{.predictions = folder.predictions()};
  if (!fs::exists(run.predictions) || !fs::exists(folder.recipe())) {
    throw ConfigError(error_text("cli.compare", path.string(), "a run folder with preds.csv and recipe.toml",
                                 fs::exists(run.predictions) ? "no recipe.toml" : "no preds.csv",
                                 "a run that has finished an epoch with validation, or a csv of predictions"));
  }
  const Recipe recipe = read_recipe(folder.recipe(), {});
  run.recipe = to_value(recipe);
  run.group = group_of(folder, recipe);
  if (!fs::exists(folder.data())) return run;
  const Value data = io::read_json(folder.data()).or_throw();
  if (const Value* tables = data.find("csv")) {
    for (const Value& table : tables->as_array()) run.csv_sha256.push_back(table.at("sha256").as_string());
  }
  return run;
}

std::vector<fs::path> seed_runs(const fs::path& path) {
  constexpr std::string_view kPrefix = "seed-";
  std::error_code ignored;
  if (!fs::is_directory(path, ignored) || fs::exists(RunFolder(path).recipe(), ignored)) return {path};
  std::map<std::int64_t, fs::path> runs;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !entry.is_directory()) continue;
    std::int64_t seed = 0;
    const char* end = name.data() + name.size();
    const auto [stop, code] = std::from_chars(name.data() + kPrefix.size(), end, seed);
    if (code == std::errc() && stop == end) runs.emplace(seed, entry.path());
  }
  std::vector<fs::path> paths;
  for (const auto& [seed, run] : runs) paths.push_back(run);
  return paths.empty() ? std::vector{path} : paths;
}

}  // namespace roentgen::train
