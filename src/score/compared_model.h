// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ComparedModel: predictions of a model that is compared with another, and the recipe if it comes from a run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "score/prediction_file.h"

namespace roentgen::score {

/// A model in a comparison.
struct ComparedModel {
  /// Name that the user gave.
  std::string what{};
  PredictionFile predictions{};      ///< predictions, with rows in the order of the file
  std::string predictions_sha256{};  ///< hash of the prediction file
  /// Recipe of the run; nullopt for a plain file of predictions.
  std::optional<Value> recipe{};
  /// SHA-256 of the label tables with which the run was trained.
  std::vector<std::string> csv_sha256{};
  /// Number of ranks of the run; 0 if not known.
  std::int64_t ranks = 0;
  std::int64_t images_per_update = 0;  ///< images per update of all ranks, the global batch size; 0 if not known
};

/// Reads a file of predictions. Throws DataError like read_prediction_file().
[[nodiscard]] ComparedModel read_model(std::string what, const std::filesystem::path& predictions);

/// Checks that the models are several seeds of one recipe, and reorders their images and labels like those of the first
/// model. Throws ConfigError if recipes differ in more than train.seed. Throws DataError like in_order_of(), and if two
/// models have the same predictions.
/// @param name name of the side for errors, "A" or "B"
void join_seeds(std::string_view name, std::vector<ComparedModel>& models);

}  // namespace roentgen::score
