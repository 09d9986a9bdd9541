// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "publish/recipe_text.h"

#include <filesystem>

#include "io/toml.h"

namespace roentgen::publish {

std::string recipe_text(Value recipe) {
  for (const char* key : {"model.file", "train.init"}) {
    const Value* value = recipe.find_path(key);
    if (value == nullptr || !value->is_string()) continue;
    recipe.set_path(key, std::filesystem::path(value->as_string()).filename().string());
  }
  return io::to_toml(recipe);
}

}  // namespace roentgen::publish
