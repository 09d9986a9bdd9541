// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/recipe_list.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <system_error>

#include "core/error.h"
#include "core/nearest_name.h"
#include "io/file.h"
#include "recipe_texts.h"

namespace roentgen::task {
namespace {

using recipe_texts::kRecipes;

constexpr std::string_view first_comment(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.substr(std::min(line.find_first_not_of("# "), line.size()));
}

constexpr auto kBuiltIn = [] {
  std::array<BuiltInRecipe, kRecipes.size()> recipes;
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    recipes[i] = {.name = kRecipes[i].first, .summary = first_comment(kRecipes[i].second), .text = kRecipes[i].second};
  }
  return recipes;
}();

}  // namespace

std::span<const BuiltInRecipe> built_in_recipes() { return kBuiltIn; }

const BuiltInRecipe& built_in_recipe(std::string_view name) {
  std::vector<std::string> known;
  std::string names;
  for (const BuiltInRecipe& recipe : kBuiltIn) {
    if (recipe.name == name) return recipe;
    known.emplace_back(recipe.name);
    names += (names.empty() ? "" : ", ") + known.back();
  }
  throw ConfigError(
      error_text("task.recipe", name, "a file, or one of " + names, "neither", nearest_name(name, known)));
}

RecipeText recipe_text(const std::filesystem::path& file_or_name) {
  constexpr std::uint64_t kLimitBytes = 1U << 20;
  std::error_code ignored;
  const bool is_name = !file_or_name.has_parent_path() && !file_or_name.has_extension();
  if (is_name && !std::filesystem::is_regular_file(file_or_name, ignored)) {
    return {.what = file_or_name.string(), .toml = std::string(built_in_recipe(file_or_name.string()).text)};
  }
  if (!std::filesystem::exists(file_or_name, ignored) && !ignored) {
    throw ConfigError(error_text("task.recipe", file_or_name.string(),
                                 "a recipe file, or the name of a built-in recipe", "no such file",
                                 "checking the path, or a name that roentgen recipes lists"));
  }
  return {.what = file_or_name.string(), .toml = io::read_text(file_or_name, kLimitBytes).or_throw<ConfigError>()};
}

train::Recipe read_recipe(const std::filesystem::path& file_or_name, std::span<const std::string> overrides) {
  const RecipeText text = recipe_text(file_or_name);
  return train::parse_recipe(text.toml, text.what, overrides);
}

Value to_value(std::span<const BuiltInRecipe> recipes) {
  Value list = Value::array();
  for (const BuiltInRecipe& recipe : recipes) {
    list.push_back(Value::Table{{"name", recipe.name}, {"summary", recipe.summary}, {"text", recipe.text}});
  }
  return list;
}

}  // namespace roentgen::task
