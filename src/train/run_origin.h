// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Origin of a run, as its folder keeps it for `train --resume`: recipe, machine, data.
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

/// The data folders of a run, one per line as `--data` takes it: "DIR" or "NAME=DIR", absolute.
[[nodiscard]] std::string folder_lines(const data::SourceOptions& source);

/// The data folders stored in a run folder, as `--data` takes them; none where it stores none. ConfigError for a file
/// that cannot be read.
[[nodiscard]] std::vector<std::string> stored_data_folders(const RunFolder& run);

/// Writes the recipe, the machine, and the data and their folders into a new run's folder.
void write_origin(const RunFolder& run, const Recipe& recipe, const data::Dataset& dataset,
                  const engine::Engine& engine);

/// Fills an empty recipe file and empty data folders from a run, as far as it has them. Throws ConfigError if there is
/// then no recipe.
void take_from_run(const RunFolder& run, std::filesystem::path& recipe, std::vector<std::string>& data);

/// True when the run in the folder is complete. ConfigError when its recipe is another.
[[nodiscard]] bool is_finished(Recipe recipe, const RunFolder& folder);

}  // namespace roentgen::train
