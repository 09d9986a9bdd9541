// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen schedule: prints the learning rate of a recipe over its steps.
#include "train/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/command_list.h"
#include "core/plural.h"
#include "core/terminal.h"
#include "task/recipe_list.h"
#include "train/recipe.h"

namespace roentgen::cli {
namespace {

constexpr std::int64_t kRows = 40;
constexpr double kBar = 50.0;

class ScheduleCommand final : public Command {
 public:
  ScheduleCommand()
      : Command("schedule", "Show a recipe's learning rate over its steps.",
                "roentgen schedule --print --recipe default --steps-per-epoch 2704\n"
                "roentgen schedule --print --set schedule.name=multistep --set schedule.milestones_epochs=[3,6]") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {
        {.name = "--recipe", .target = &recipe_, .doc = "TOML file or built-in recipe (default: all default values)"},
        {.name = "--set", .target = &overrides_, .doc = "section.key=value that overrides the recipe"},
        {.name = "--steps-per-epoch", .target = &steps_, .doc = "updates per epoch", .range = {1, 1e9}},
        {.name = "--print", .target = &is_print_, .doc = "print the learning rates as a table (default)"}};
  }

  [[nodiscard]] CommandResult run() override {
    const train::Recipe recipe =
        recipe_.empty() ? train::parse_recipe("", "--set", overrides_) : task::read_recipe(recipe_, overrides_);
    const train::ScheduleOptions options = train::schedule_options(recipe, steps_);
    const auto schedule = train::make_schedule(recipe.schedule.name, options);
    terminal::print(fmt::format("{}, {} ({} of warm-up), lr {}\n", recipe.schedule.name,
                                counted(options.total_steps, "step"), options.warmup_steps, options.base_lr));
    Value rates = Value::array();
    const std::int64_t stride = std::max<std::int64_t>(options.total_steps / kRows, 1);
    for (std::int64_t step = 0; step < options.total_steps; step += stride) {
      const double lr = schedule->lr(step);
      rates.push_back(Value::Table{{"step", step}, {"lr", lr}});
      const auto bar = static_cast<std::size_t>(std::lround(kBar * std::min(lr / options.base_lr, 1.0)));
      terminal::print(fmt::format("{:>9} {:>12.6g} {}\n", step, lr, std::string(bar, '#')));
    }
    return {.json =
                Value::Table{{"schedule", recipe.schedule.name}, {"total_steps", options.total_steps}, {"lr", rates}}};
  }

 private:
  std::filesystem::path recipe_;
  std::vector<std::string> overrides_;
  std::int64_t steps_ = 100;
  bool is_print_ = false;
};

}  // namespace

std::unique_ptr<Command> make_schedule_command() { return std::make_unique<ScheduleCommand>(); }

}  // namespace roentgen::cli
