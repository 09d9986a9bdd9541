// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/model_argument.h"

#include <utility>

#include "core/comma_list.h"
#include "core/error.h"
#include "train/finished_run.h"

namespace roentgen::cli {

namespace fs = std::filesystem;

std::vector<fs::path> model_paths(std::string_view argument) {
  std::vector<fs::path> paths;
  std::error_code ignored;
  if (fs::exists(argument, ignored) || argument.find(',') == std::string_view::npos) return train::seed_runs(argument);
  for (const std::string_view part : comma_parts(argument)) {
    if (part.empty()) {
      throw ConfigError(error_text("cli.compare", argument, "names of runs or files, separated by commas",
                                   "an empty name", "roentgen compare A1,A2,A3 B1,B2,B3"));
    }
    for (fs::path& path : train::seed_runs(part)) paths.push_back(std::move(path));
  }
  return paths;
}

std::vector<score::ComparedModel> read_models(std::string_view name, std::string_view argument) {
  return read_models(name, model_paths(argument));
}

std::vector<score::ComparedModel> read_models(std::string_view name, const std::vector<fs::path>& paths) {
  std::vector<score::ComparedModel> models;
  for (const fs::path& path : paths) {
    if (!fs::is_directory(path)) {
      models.push_back(score::read_model(path.string(), path));
      continue;
    }
    train::FinishedRun run = train::read_finished_run(path);
    models.push_back(score::read_model(path.string(), run.predictions));
    models.back().recipe = std::move(run.recipe);
    models.back().csv_sha256 = std::move(run.csv_sha256);
    if (!run.group) continue;
    models.back().ranks = run.group->ranks;
    models.back().images_per_update = run.group->images_per_update;
  }
  score::join_seeds(name, models);
  return models;
}

}  // namespace roentgen::cli
