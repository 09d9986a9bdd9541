// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The arguments A and B of `roentgen compare`: run folders and csv files of predictions.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "score/compared_model.h"

namespace roentgen::cli {

/// Models that an argument names: one path, several separated by commas, or a folder of `train --seeds`
/// (train::seed_runs()). An existing path is never split at commas. Throws ConfigError for an empty name between
/// commas.
[[nodiscard]] std::vector<std::filesystem::path> model_paths(std::string_view argument);

/// Reads the models as seeds of one recipe. Throws as train::read_finished_run(), score::read_model() and
/// score::join_seeds().
/// @param name "A" or "B", for errors
[[nodiscard]] std::vector<score::ComparedModel> read_models(std::string_view name, std::string_view argument);
/// Reads the models at `paths`, run folders or csv files, as seeds of one recipe. Throws like the function above.
[[nodiscard]] std::vector<score::ComparedModel> read_models(std::string_view name,
                                                            const std::vector<std::filesystem::path>& paths);

}  // namespace roentgen::cli
