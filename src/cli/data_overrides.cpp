// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/data_overrides.h"

#include "core/error.h"
#include "train/recipe.h"

namespace roentgen::cli {

void check_data_overrides(std::span<const std::string> overrides) {
  for (const std::string& text : overrides) {
    if (text.starts_with("data.") && !text.starts_with("data.labels")) continue;
    throw ConfigError(error_text("cli.arguments", "--set " + text, "a recipe key of [data] other than data.labels",
                                 text, "data.split or another key, because the model defines the labels"));
  }
}

data::SourceOptions data_options(std::span<const std::string> overrides) {
  check_data_overrides(overrides);
  return train::parse_recipe("", "--set", overrides).data;
}

}  // namespace roentgen::cli
