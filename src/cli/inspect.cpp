// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen inspect: what a model costs, or what a data folder holds.
#include <fmt/format.h>

#include "cli/command_list.h"
#include "cli/model_option.h"
#include "core/error.h"
#include "data/source/describe.h"
#include "graph/summary.h"
#include "graph/text.h"
#include "train/recipe.h"

namespace roentgen::cli {
namespace {

class InspectCommand final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "inspect"; }
  [[nodiscard]] std::string_view summary() const override {
    return "Show a model's layers and cost, or a data folder.";
  }
  [[nodiscard]] std::string_view examples() const override {
    return "roentgen inspect --model densenet121\n"
           "roentgen inspect --model resnet50 --image 512 --print > resnet50.txt\n"
           "roentgen inspect --data nih --json nih.json";
  }
  [[nodiscard]] std::vector<Option> options() override {
    return {{.name = "--model", .target = &model_, .doc = "name of a model, or file with a graph text"},
            {.name = "--data",
             .target = &data_,
             .doc = "data folder: source, splits, counts of every label",
             .value_name = "DIR"},
            {.name = "--set", .target = &overrides_, .doc = "recipe keys, [model] and [data]"},
            {.name = "--batch", .target = &shape_.batch, .doc = "model: images a batch", .least = 1, .most = 65536},
            {.name = "--channels", .target = &shape_.channels, .doc = "model: 1 or 3", .least = 1, .most = 3},
            {.name = "--image",
             .target = &shape_.image_px,
             .doc = "model: side of the image, px",
             .least = 1,
             .most = 65536},
            {.name = "--labels", .target = &shape_.labels, .doc = "model: outputs", .least = 1, .most = 1e6},
            {.name = "--print", .target = &is_text_, .doc = "model: print the graph as text, ready for --model FILE"}};
  }

  [[nodiscard]] Folders folders() const override { return {.data = data_, .made = {}}; }
  [[nodiscard]] CommandResult run() override {
    if (model_.empty() == data_.empty()) {
      throw ConfigError(error_text("cli.arguments", "inspect", "either --model NAME or --data DIR",
                                   model_.empty() ? "none" : "both", "roentgen inspect --help"));
    }
    train::Recipe recipe = train::parse_recipe("", "--set", overrides_);
    return model_.empty() ? inspect_data(recipe.data) : inspect_model(recipe.model);
  }

 private:
  [[nodiscard]] CommandResult inspect_model(train::ModelRecipe& recipe) const {
    set_model(recipe, model_);
    const graph::Graph model = make_model(recipe, shape_);
    const graph::Summary summary = graph::summarise(model);
    fmt::print("{}", is_text_ ? graph::print_graph_any_batch(model) : graph::to_text(summary));
    return {.json = graph::to_value(summary)};
  }
  [[nodiscard]] CommandResult inspect_data(data::SourceOptions& source) const {
    source.root = data_;
    const data::Dataset dataset = data::load_dataset(source);
    fmt::print("{}", data::describe(dataset));
    return {.json = data::describe_value(dataset)};
  }

  std::string model_;
  std::filesystem::path data_;
  std::vector<std::string> overrides_;
  ModelShape shape_;
  bool is_text_ = false;
};

}  // namespace

std::unique_ptr<Command> make_inspect_command() { return std::make_unique<InspectCommand>(); }

}  // namespace roentgen::cli
