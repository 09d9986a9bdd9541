// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/run_origin.h"

#include <fmt/core.h>

#include <sstream>

#include "core/error.h"
#include "core/value.h"
#include "data/source/describe.h"
#include "dist/mpi_library.h"
#include "engine/engine.h"
#include "io/environment.h"
#include "io/file.h"
#include "io/json.h"
#include "train/early_checks.h"
#include "train/resume.h"
#include "train/run_id.h"

namespace roentgen::train {

namespace fs = std::filesystem;

std::string folder_lines(const data::SourceOptions& source) {
  const auto whole = [](const fs::path& folder) { return fs::absolute(folder).lexically_normal().string(); };
  if (source.sources.empty()) return whole(source.root) + "\n";
  std::string lines;
  for (const data::SourceOptions& one : source.sources) lines += fmt::format("{}={}\n", one.name, whole(one.root));
  return lines;
}

void write_origin(const RunFolder& run, const Recipe& recipe, const data::Dataset& dataset,
                  const engine::Engine& engine) {
  Value environment = io::environment_report();
  environment.set(kRunIdKey, new_run_id());
  environment.set("engine", Value::Table{{"name", engine.name()}, {"description", engine.description()}});
  if (const auto mpi = dist::loaded_mpi()) environment.set_path("libraries.mpi", mpi->version);
  io::write_file_atomically(run.recipe(), to_toml(recipe));
  io::write_file_atomically(run.data_folders(), folder_lines(recipe.data));
  io::write_file_atomically(run.environment(), io::to_json(environment) + "\n");
  io::write_file_atomically(run.data(), io::to_json(data::describe_value(dataset)) + "\n");
}

std::vector<std::string> stored_data_folders(const RunFolder& run) {
  if (!fs::exists(run.data_folders())) return {};
  std::vector<std::string> folders;
  std::istringstream lines(io::read_text(run.data_folders()).or_throw<ConfigError>());
  for (std::string line; std::getline(lines, line);) folders.push_back(line);
  return folders;
}

void take_from_run(const RunFolder& run, fs::path& recipe, std::vector<std::string>& data) {
  if (recipe.empty() && fs::exists(run.recipe())) recipe = run.recipe();
  if (recipe.empty()) {
    throw ConfigError(error_text("cli.train", "--resume", "a run in --out, or --recipe to start one",
                                 "no run in " + run.root().string(), "another --out, or --recipe FILE --data DIR"));
  }
  if (data.empty()) data = stored_data_folders(run);
}

bool is_finished(Recipe recipe, const RunFolder& folder) {
  if (!fs::exists(folder.resume())) return false;
  check_resumed_recipe(recipe, folder);
  const Resume resume = read_resume(folder.resume());
  const Recipe begun = parse_recipe(resume.info.recipe, folder.resume().string(), {});
  return resume.state.is_finished && begun.train.epochs == recipe.train.epochs;
}

}  // namespace roentgen::train
