// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen recipes: lists the built-in recipes, or prints one.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/command_list.h"
#include "core/terminal.h"
#include "task/recipe_list.h"

namespace roentgen::cli {
namespace {

class RecipesCommand final : public Command {
 public:
  RecipesCommand()
      : Command("recipes", "List the built-in recipes, or print one.",
                "roentgen recipes\n"
                "roentgen recipes default > my_recipe.toml") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {{.name = "NAME", .target = &name_, .doc = "recipe to print (default: list all)", .value_name = "NAME"}};
  }
  [[nodiscard]] CommandResult run() override {
    if (!name_.empty()) {
      const task::BuiltInRecipe& recipe = task::built_in_recipe(name_);
      terminal::print_for_programs(std::string(recipe.text));
      return {.json = Value::Table{{"recipes", task::to_value({&recipe, 1})}}};
    }
    std::size_t width = 0;
    for (const task::BuiltInRecipe& recipe : task::built_in_recipes()) width = std::max(width, recipe.name.size());
    for (const task::BuiltInRecipe& recipe : task::built_in_recipes()) {
      terminal::print(fmt::format("{:<{}}  {}\n", recipe.name, width, recipe.summary));
    }
    return {.json = Value::Table{{"recipes", task::to_value(task::built_in_recipes())}}};
  }

 private:
  std::string name_;
};

}  // namespace

std::unique_ptr<Command> make_recipes_command() { return std::make_unique<RecipesCommand>(); }

}  // namespace roentgen::cli
