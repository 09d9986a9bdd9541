// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen init: examines a folder of images and writes a recipe for it.
#include <fmt/format.h>

#include "cli/command_list.h"
#include "core/foreign_text.h"
#include "core/log.h"
#include "core/terminal.h"
#include "data/source/describe.h"
#include "io/file.h"
#include "task/init_recipe.h"

namespace roentgen::cli {
namespace {

class InitCommand final : public Command {
 public:
  InitCommand()
      : Command("init", "Inspect a folder of images and write a recipe for it.",
                "roentgen init my_xrays\n"
                "roentgen init my_xrays --out my.toml --set data.labels=pneumonia --set data.csv=findings.csv") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {{.name = "DIR",
             .target = &folder_,
             .doc = "images with a label table, one folder per class, or a known data set",
             .need = Need::Required,
             .value_name = "DIR",
             .is_input = true},
            {.name = "--out", .target = &out_, .doc = "recipe file to write; must not exist", .is_output = true},
            {.name = "--set", .target = &overrides_, .doc = "data.key=value that you already know; may be repeated"}};
  }
  [[nodiscard]] Folders folders() const override { return {.data = folder_}; }

  [[nodiscard]] CommandResult run() override {
    for (const std::string& text : overrides_) task::check_init_key(text, "--set " + text);
    const task::InitResult result =
        task::init_recipe({.folder = folder_,
                           .out = out_,
                           .asked = train::parse_recipe("", "--set", overrides_).data,
                           .on_measuring = [](const std::string& network) {
                             log::info("measuring batches and updates of " + network + ", for at most 20 seconds");
                           }});
    io::write_file_atomically(out_, result.text);
    terminal::print(data::describe(result.look.dataset));
    const train::Recipe recipe = task::recipe_of(result.keys);
    terminal::print(fmt::format("{:<9} {}, {} px, batch {}, at most {} epochs\n", "network", recipe.model.name,
                                recipe.preprocess.size_px, recipe.train.batch, recipe.train.epochs));
    terminal::print(fmt::format("{:<9} {}\n", "time", task::time_text(recipe, result.look.dataset, result.speed)));
    for (const std::string& doubt : result.look.doubts) {
      terminal::print(fmt::format("{:<9} {}\n", "check", terminal_text(doubt)));
    }
    terminal::print(fmt::format("{:<9} {}, each value with its reason\n\n", "recipe", terminal_text(out_.string())));
    for (const std::string& command : task::next_commands(result.look, out_)) {
      terminal::print(fmt::format("{}\n", command));
    }
    return {.json = task::to_value(result, out_)};
  }

 private:
  std::filesystem::path folder_;
  std::filesystem::path out_ = "recipe.toml";
  std::vector<std::string> overrides_;
};

}  // namespace

std::unique_ptr<Command> make_init_command() { return std::make_unique<InitCommand>(); }

}  // namespace roentgen::cli
