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
  std::string_view name;     ///< file of recipes/ without its ending: "default"
  std::string_view summary;  ///< first line of its comment
  std::string_view text;     ///< TOML, with comments
};

/// All built-in recipes, by name.
[[nodiscard]] std::span<const BuiltInRecipe> built_in_recipes();

/// The recipe of this name. ConfigError with the known names and the nearest.
[[nodiscard]] const BuiltInRecipe& built_in_recipe(std::string_view name);

/// Text of a recipe.
struct RecipeText {
  std::string what;  ///< file or name, for errors
  std::string toml;  ///< text of the recipe
};

/// Text of a file, else of the built-in recipe of that name. Names have no folder and no ending. ConfigError for a file
/// that cannot be read, and as built_in_recipe().
[[nodiscard]] RecipeText recipe_text(const std::filesystem::path& file_or_name);

/// Reads a recipe of a file or of a built-in name; overrides and errors as train::read_recipe() and recipe_text().
[[nodiscard]] train::Recipe read_recipe(const std::filesystem::path& file_or_name,
                                        std::span<const std::string> overrides);

/// [{"name", "summary", "text"}].
[[nodiscard]] Value to_value(std::span<const BuiltInRecipe> recipes);

}  // namespace roentgen::task
