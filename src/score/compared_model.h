// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// One model that is compared with another: its predictions, and the recipe of a run.
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

/// A model in a comparison. Plain value.
struct ComparedModel {
  /// Name that the user gave.
  std::string what{};
  PredictionFile predictions{};      ///< rows in the order of the file
  std::string predictions_sha256{};  ///< hash of that file
  /// Recipe of a run, whose validation images chose the best epoch.
  std::optional<Value> recipe{};
  /// SHA-256 of the label tables that a run was trained with.
  std::vector<std::string> csv_sha256{};
  /// Ranks of a run, and images of an update of all of them; 0: not known.
  std::int64_t ranks = 0;
  std::int64_t images_per_update = 0;  ///< the global batch
};

/// Reads a file of predictions. DataError as read_prediction_file().
[[nodiscard]] ComparedModel read_model(std::string what, const std::filesystem::path& predictions);

/// Takes models for several seeds of one recipe: puts their images and labels in the order of the first. ConfigError
/// where recipes differ in more than train.seed; DataError as in_order_of(), and where two of the models are the same
/// one.
/// @param name "A" or "B", for errors
void join_seeds(std::string_view name, std::vector<ComparedModel>& models);

}  // namespace roentgen::score
