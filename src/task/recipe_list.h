// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Built-in recipes (the folder recipes/, compiled in), and recipes by file or by name.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "train/recipe.h"

namespace roentgen::task {

/// A built-in recipe.
struct BuiltInRecipe {
  std::string_view name;     ///< file name in recipes/ without its suffix, such as "default"
  std::string_view summary;  ///< first line of the recipe's comment
  std::string_view text;     ///< the recipe as TOML, with comments
};

/// All built-in recipes, sorted by name.
[[nodiscard]] std::span<const BuiltInRecipe> built_in_recipes();

/// Returns the built-in recipe with this name. Throws ConfigError with the known names and the nearest one.
[[nodiscard]] const BuiltInRecipe& built_in_recipe(std::string_view name);

/// Text of a recipe and where it comes from.
struct RecipeText {
  std::string what;  ///< file or built-in name, for errors
  std::string toml;  ///< the recipe as TOML
};

/// Reads a recipe's text from a file, or else from the built-in recipe of that name. A name contains no folder and no
/// suffix. Throws ConfigError if the file cannot be read, and as built_in_recipe() does.
[[nodiscard]] RecipeText recipe_text(const std::filesystem::path& file_or_name);

/// Reads a recipe from a file or by its built-in name. Overrides and errors are as in train::read_recipe() and
/// recipe_text().
[[nodiscard]] train::Recipe read_recipe(const std::filesystem::path& file_or_name,
                                        std::span<const std::string> overrides);

/// Returns the recipes for JSON: [{"name", "summary", "text"}].
[[nodiscard]] Value to_value(std::span<const BuiltInRecipe> recipes);

}  // namespace roentgen::task
