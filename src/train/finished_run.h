// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A finished run, read from its folder for a comparison: predictions, recipe, versions of the labels.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/value.h"

namespace roentgen::train {

/// A run that has finished an epoch with validation.
struct FinishedRun {
  /// Predictions of the validation images by the best epoch.
  std::filesystem::path predictions{};
  /// Recipe with the defaults of keys that the file leaves out.
  Value recipe{};
  /// SHA-256 of the label tables of the training; empty when the folder does not state them.
  std::vector<std::string> csv_sha256{};
};

/// Reads a folder. ConfigError where it has no preds.csv or no recipe.toml, and as read_recipe(); DataError where
/// data.json cannot be read.
[[nodiscard]] FinishedRun read_finished_run(const std::filesystem::path& folder);

/// The runs of `train --seeds` in their folder: its folders `seed-N` in the order of the numbers. The path itself
/// where it is a run, no folder, or a folder without such runs.
[[nodiscard]] std::vector<std::filesystem::path> seed_runs(const std::filesystem::path& path);

}  // namespace roentgen::train
