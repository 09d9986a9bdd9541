// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen models: lists the built-in networks.
#include <fmt/format.h>

#include <string>

#include "cli/command_list.h"
#include "core/terminal.h"
#include "task/model_list.h"

namespace roentgen::cli {
namespace {

class ModelsCommand final : public Command {
 public:
  ModelsCommand()
      : Command("models", "List the built-in networks and their cost.",
                "roentgen models\n"
                "roentgen inspect --model resnet18") {}
  [[nodiscard]] std::vector<Option> options() override { return {}; }
  [[nodiscard]] CommandResult run() override {
    const std::vector<task::BuiltInModel> models = task::built_in_models();
    std::string text = fmt::format("{:<14} {:>10} {:>13} {:>6}\n", "model", "parameters", "multiply-adds", "image");
    for (const task::BuiltInModel& model : models) {
      text += fmt::format("{:<14} {:>8.1f} M {:>11.2f} G {:>6}  {}\n", model.name, 1e-6 * double(model.parameters),
                          1e-9 * double(model.multiply_adds), model.image_px, model.summary);
    }
    terminal::print(text + "multiply-adds: one forward of one gray image of the model's own size (px), 14 labels\n");
    return {.json = Value::Table{{"models", task::to_value(models)}}};
  }
};

}  // namespace

std::unique_ptr<Command> make_models_command() { return std::make_unique<ModelsCommand>(); }

}  // namespace roentgen::cli
