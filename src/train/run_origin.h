// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Origin of a run, stored in its folder for `train --resume`: recipe, machine and data.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/source/dataset.h"
#include "train/recipe.h"
#include "train/run_folder.h"

namespace roentgen::engine {
class Engine;
}

namespace roentgen::train {

/// Returns the data folders of a run, one per line in the form of `--data`: "DIR" or "NAME=DIR", absolute.
[[nodiscard]] std::string folder_lines(const data::SourceOptions& source);

/// Returns the data folders stored in a run folder, in the form of `--data`; empty if it stores none. Throws
/// ConfigError if the file cannot be read.
[[nodiscard]] std::vector<std::string> stored_data_folders(const RunFolder& run);

/// Writes recipe, machine, data and data folders into the folder of a new run, and gives it an id (run_id()).
void write_origin(const RunFolder& run, const Recipe& recipe, const data::Dataset& dataset,
                  const engine::Engine& engine);

/// Fills `recipe` and `data`, if empty, with the recipe file and the data folders of a run. Throws ConfigError if there
/// is no recipe then.
void take_from_run(const RunFolder& run, std::filesystem::path& recipe, std::vector<std::string>& data);

/// Returns true if the run in the folder is complete. Throws ConfigError if it has another recipe.
[[nodiscard]] bool is_finished(Recipe recipe, const RunFolder& folder);

}  // namespace roentgen::train
