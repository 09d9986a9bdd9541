// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/compare_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "cli/prediction_match.h"
#include "cli/recipe_difference.h"
#include "core/error.h"
#include "io/file.h"
#include "io/json.h"
#include "io/sha256.h"
#include "train/recipe.h"
#include "train/run_folder.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

// The runs of `train --seeds` in their folder; the folder itself where there are none.
std::vector<fs::path> seed_runs(const fs::path& path) {
  constexpr std::string_view kPrefix = "seed-";
  std::error_code ignored;
  if (!fs::is_directory(path, ignored) || fs::exists(train::RunFolder(path).recipe(), ignored)) return {path};
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

ComparedModel read_model(const fs::path& path) {
  ComparedModel model{.what = path.string()};
  fs::path file = path;
  if (fs::is_directory(path)) {
    const train::RunFolder folder(path);
    file = folder.predictions();
    if (!fs::exists(file) || !fs::exists(folder.recipe())) {
      throw ConfigError(error_text("cli.compare", model.what, "a run folder with preds.csv and recipe.toml",
                                   fs::exists(file) ? "no recipe.toml" : "no preds.csv",
                                   "a run that has finished an epoch with validation, or a csv of predictions"));
    }
    // Through the recipe's own table: keys that a file leaves out have their defaults.
    model.recipe = train::to_value(train::read_recipe(folder.recipe(), {}));
    model.recipe_file = folder.recipe();
    if (fs::exists(folder.data())) {
      const Value data = io::parse_json(io::read_text(folder.data()).or_throw(), folder.data().string()).or_throw();
      if (const Value* tables = data.find("csv")) {
        for (const Value& table : tables->as_array()) model.csv_sha256.push_back(table.at("sha256").as_string());
      }
    }
  }
  model.predictions = read_prediction_file(file);
  model.predictions_sha256 = io::sha256_hex(io::read_text(file).or_throw());
  return model;
}

// Several seeds of one recipe: another recipe among them is another question, the same model twice no second seed.
void check_seeds(std::string_view name, const std::vector<ComparedModel>& models) {
  for (std::size_t i = 1; i < models.size(); ++i) {
    const ComparedModel& model = models[i];
    if (models.front().recipe && model.recipe) {
      for (const RecipeDifference& difference : recipe_differences(*models.front().recipe, *model.recipe)) {
        if (difference.key == "train.seed") continue;
        throw ConfigError(
            error_text("cli.compare", fmt::format("{}: {}", name, model.what),
                       "a recipe that differs from that of " + models.front().what + " in train.seed alone",
                       "another " + difference.key, "runs of one recipe on each side"));
      }
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (models[j].predictions_sha256 != model.predictions_sha256) continue;
      throw DataError(error_text("cli.compare", fmt::format("{}: {}", name, model.what),
                                 "another seed than " + models[j].what, "the same predictions",
                                 "every seed once on each side"));
    }
  }
}

}  // namespace

std::vector<fs::path> model_paths(std::string_view argument) {
  std::vector<fs::path> paths;
  std::error_code ignored;
  if (fs::exists(argument, ignored) || argument.find(',') == std::string_view::npos) return seed_runs(argument);
  for (std::size_t begin = 0; begin <= argument.size();) {
    const std::size_t end = std::min(argument.find(',', begin), argument.size());
    const std::string_view part = argument.substr(begin, end - begin);
    if (part.empty()) {
      throw ConfigError(error_text("cli.compare", argument, "names of runs or files with commas between",
                                   "an empty one", "roentgen compare A1,A2,A3 B1,B2,B3"));
    }
    for (fs::path& path : seed_runs(part)) paths.push_back(std::move(path));
    begin = end + 1;
  }
  return paths;
}

std::vector<ComparedModel> read_models(std::string_view name, std::string_view argument) {
  std::vector<ComparedModel> models;
  for (const fs::path& path : model_paths(argument)) {
    ComparedModel model = read_model(path);
    if (!models.empty()) {
      const ComparedModel& first = models.front();
      model.predictions = in_order_of(first.predictions, first.what, std::move(model.predictions), model.what);
    }
    models.push_back(std::move(model));
  }
  check_seeds(name, models);
  return models;
}

}  // namespace roentgen::cli
