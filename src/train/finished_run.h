// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// FinishedRun: predictions, recipe and label versions of a run, read from its folder for a comparison.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/value.h"

namespace roentgen::train {

/// Number of ranks and global batch size of a run in its last epoch.
struct RunGroup {
  std::int64_t ranks = 1;              ///< number of ranks
  std::int64_t images_per_update = 1;  ///< global batch size: images of all ranks and accumulated batches
  friend bool operator==(const RunGroup&, const RunGroup&) = default;
};

/// A run that has finished at least one epoch with validation.
struct FinishedRun {
  /// File of the predictions of the best epoch for the validation images.
  std::filesystem::path predictions{};
  /// Recipe, with defaults for keys that its file does not set.
  Value recipe{};
  /// SHA-256 of the label tables used for training; empty if the folder does not record them.
  std::vector<std::string> csv_sha256{};
  /// Ranks and batch size; nullopt if no resume file can be read or its version did not record them.
  std::optional<RunGroup> group{};
};

/// Reads a run folder. Throws ConfigError if preds.csv or recipe.toml is missing, like read_recipe(), and DataError if
/// data.json cannot be read.
[[nodiscard]] FinishedRun read_finished_run(const std::filesystem::path& folder);

/// Returns the run folders `seed-N` that `train --seeds` made in a folder, ordered by N. Returns `path` itself if it is
/// a run, not a folder, or has no such runs.
[[nodiscard]] std::vector<std::filesystem::path> seed_runs(const std::filesystem::path& path);

}  // namespace roentgen::train
