// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes a recipe for a folder, for `roentgen init` and Python's init().
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "task/propose_recipe.h"

namespace roentgen::task {

/// ConfigError unless the key is one of [data]: "data.labels".
/// @param what the setting, for the error
void check_init_key(std::string_view key, std::string_view what);

/// Arguments of init_recipe().
struct InitOptions {
  std::filesystem::path folder{};  ///< data folder
  std::filesystem::path out{};     ///< file that the recipe will be written to, for its commands and refusals
  data::SourceOptions asked{};     ///< known options
  SpeedLimits limits{};            ///< limits of the measurement
  /// Called before the measurement, with the network's name; may be empty.
  std::function<void(const std::string& network)> on_measuring{};
};

/// A recipe and the data it was made from.
struct InitResult {
  DataLook look{};
  std::vector<ProposedKey> keys{};
  TrainingSpeed speed{};
  double hours = 0.0;  ///< expected_hours()
  std::string text{};  ///< TOML
};

/// Makes a recipe; writes nothing. ConfigError at once if `out` exists, lies inside the data folder, or its parent
/// folder is absent; as look_at_data() and measure_training_speed().
[[nodiscard]] InitResult init_recipe(const InitOptions& options);

/// {"source", "images", "labels", "split_origin", "recipe", "images_per_s", "decoded_per_s", "hours", "time", "limit":
/// "input" or "compute", "checks", "notes", "next"}.
[[nodiscard]] Value to_value(const InitResult& result, const std::filesystem::path& out);

}  // namespace roentgen::task
