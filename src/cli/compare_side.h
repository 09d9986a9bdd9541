// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// One side of `roentgen compare`: a model, or a recipe by the models of several seeds.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/prediction_file.h"
#include "core/value.h"

namespace roentgen::cli {

/// One model: a run folder or a csv of predictions.
struct ComparedModel {
  /// As given on the command line.
  std::string what{};
  PredictionFile predictions{};
  std::string predictions_sha256{};
  /// Of a run folder.
  std::optional<Value> recipe{};
  /// Of a run folder: the recipe's file.
  std::filesystem::path recipe_file{};
  /// Of a run folder: SHA-256 of its label tables.
  std::vector<std::string> csv_sha256{};
};

/// The models that an argument names: one path, several with commas between, or a folder of `train --seeds`, which
/// stands for its seed-<number> folders in the order of the numbers. A path that is there is never parted at commas.
/// ConfigError for an empty name between commas.
[[nodiscard]] std::vector<std::filesystem::path> model_paths(std::string_view argument);

/// Reads them, with the images and labels in the order of the first. ConfigError where a folder is no finished run, or
/// runs differ in more than train.seed; DataError as read_prediction_file() and in_order_of(), and where two of the
/// models are the same one.
/// @param name "A" or "B", for errors
[[nodiscard]] std::vector<ComparedModel> read_models(std::string_view name, std::string_view argument);

}  // namespace roentgen::cli
