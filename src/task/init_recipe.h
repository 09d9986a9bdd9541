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

/// Throws ConfigError unless the key belongs to [data], such as "data.labels".
/// @param what the setting, for the error
void check_init_key(std::string_view key, std::string_view what);

/// Arguments of init_recipe().
struct InitOptions {
  std::filesystem::path folder{};  ///< data folder
  std::filesystem::path out{};     ///< path at which the recipe will be written; used for suggested commands and checks
  data::SourceOptions asked{};     ///< [data] options that the user has set
  SpeedLimits limits{};            ///< limits of the speed measurement
  /// Callback before the speed measurement, with the name of the network; may be empty.
  std::function<void(const std::string& network)> on_measuring{};
};

/// Proposed recipe and the properties of the data it is based on.
struct InitResult {
  DataLook look{};
  std::vector<ProposedKey> keys{};
  TrainingSpeed speed{};
  double hours = 0.0;  ///< training time by expected_hours()
  std::string text{};  ///< the recipe as TOML
};

/// Proposes a recipe; writes nothing. Throws ConfigError at once if `out` exists, lies inside the data folder, or has
/// no parent folder. Throws also as look_at_data() and measure_training_speed() do.
[[nodiscard]] InitResult init_recipe(const InitOptions& options);

/// Returns the result for JSON: {"source", "images", "labels", "split_origin", "recipe", "images_per_s",
/// "decoded_per_s", "hours", "time", "limit": "input" or "compute", "checks", "notes", "next"}.
[[nodiscard]] Value to_value(const InitResult& result, const std::filesystem::path& out);

}  // namespace roentgen::task
