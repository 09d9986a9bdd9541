// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen inspect: shows size and compute cost of a model, or the contents of a data folder.
#include <fmt/format.h>

#include <cstdio>

#include "cli/arguments.h"
#include "cli/command_list.h"
#include "cli/inspect_plan.h"
#include "cli/output_file.h"
#include "core/foreign_text.h"
#include "core/plural.h"
#include "core/terminal.h"
#include "data/census/census.h"
#include "data/source/describe.h"
#include "graph/summary.h"
#include "graph/text.h"
#include "io/file.h"
#include "task/device_option.h"
#include "task/model.h"
#include "task/recipe_list.h"
#include "train/recipe.h"

namespace roentgen::cli {
namespace {

class InspectCommand final : public Command {
 public:
  InspectCommand()
      : Command("inspect", "Show a model's layers and cost, or a data folder.",
                "roentgen inspect --model densenet121\n"
                "roentgen inspect --model resnet50 --image 512 --print > resnet50.txt\n"
                "roentgen inspect --model resnet50 --batch 16 --channels 3 --plan\n"
                "roentgen inspect --plan --recipe large_512\n"
                "roentgen inspect --plan --model resnet50 --image 224,512 --device cuda --card h200\n"
                "roentgen inspect --data nih --json nih.json\n"
                "roentgen inspect --data nih --pixels --broken broken.csv") {}
  [[nodiscard]] bool needs_options() const override { return true; }
  [[nodiscard]] std::vector<Option> options() override {
    return {
        {.name = "--model",
         .target = &model_,
         .doc = "built-in model (see roentgen models), or a file from inspect --print"},
        {.name = "--data", .target = &data_, .doc = "data folder to check; several are joined", .value_name = "DIR"},
        {.name = "--recipe", .target = &recipe_, .doc = "TOML file or built-in recipe that says how to read the data"},
        {.name = "--pixels", .target = &is_decoded_, .doc = "with --data: decode every image, not only its header"},
        {.name = "--no-files",
         .target = &is_table_only_,
         .doc = "with --data: check only the label table, open no image"},
        {.name = "--broken",
         .target = &broken_,
         .doc = "with --data: write unreadable images and reasons to this csv",
         .is_output = true},
        {.name = "--workers",
         .target = &workers_,
         .doc = "with --data: number of threads; 0 = all cores",
         .range = {0, 1024}},
        {.name = "--set", .target = &overrides_, .doc = "model.key=value or data.key=value that overrides the recipe"},
        {.name = "--batch", .target = &shape_.batch, .doc = "with --model: images per batch", .range = {1, 65536}},
        {.name = "--channels",
         .target = &shape_.channels,
         .doc = "with --model: input channels, 1 or 3",
         .range = {1, 3}},
        {.name = "--image",
         .target = &image_,
         .doc = "image side, px; 0 = the model's default; several with --plan: 224,512"},
        {.name = "--labels", .target = &shape_.labels, .doc = "with --model: number of outputs", .range = {1, 1e6}},
        {.name = "--print", .target = &is_text_, .doc = "print the model as text, to edit and use as --model FILE"},
        {.name = "--plan",
         .target = &is_planned_,
         .doc = "show the plan of a training: memory, convolution kernels, batch norms"},
        task::device_option(device_, "; for --plan"),
        {.name = "--card", .target = &card_, .doc = "with --plan: plan for another GPU: h100, h200 or FILE.json"}};
  }

  [[nodiscard]] Folders folders() const override { return data_folders(data_); }
  [[nodiscard]] CommandResult run() override {
    const bool is_of_recipe = is_planned_ && data_.empty() && !recipe_.empty();
    if (model_.empty() == data_.empty() && !is_of_recipe) {
      refuse_arguments("inspect", "either --model NAME or --data DIR", model_.empty() ? "neither" : "both");
    }
    if (is_planned_ && !data_.empty()) {
      refuse_arguments("inspect --plan", "--model NAME or --recipe FILE", "--data");
    }
    if (!is_planned_ && !(device_.empty() && card_.empty())) {
      refuse_missing(device_.empty() ? "inspect --card" : "inspect --device", "--plan");
    }
    std::vector<std::string> changes = overrides_;
    if (!device_.empty()) changes.push_back("train.device=" + device_);
    train::Recipe recipe =
        recipe_.empty() ? train::parse_recipe("", "--set", changes) : task::read_recipe(recipe_, changes);
    std::vector<std::int64_t> sides = image_.empty() ? std::vector<std::int64_t>{} : parse_sides(image_);
    if (is_planned_) {
      return inspect_plan(recipe, {.model = model_,
                                   .shape = shape_,
                                   .is_shaped = recipe_.empty(),
                                   .sides_px = std::move(sides),
                                   .card = card_});
    }
    if (sides.size() > 1) refuse_missing("inspect --image of several sides", "--plan");
    if (!sides.empty()) shape_.image_px = sides[0];
    return model_.empty() ? inspect_data(recipe.data) : inspect_model(recipe.model);
  }

 private:
  [[nodiscard]] CommandResult inspect_model(train::ModelRecipe& recipe) const {
    task::set_model(recipe, model_);
    task::ModelShape shape = shape_;
    if (shape.image_px == 0) shape.image_px = task::own_image_px(recipe);
    const graph::Graph model = task::make_model(recipe, shape);
    const graph::Summary summary = graph::summarise(model);
    if (is_text_) {
      terminal::print_for_programs(graph::print_graph_any_batch(model));
    } else {
      terminal::print(graph::to_text(summary));
    }
    return {.json = graph::to_value(summary)};
  }
  [[nodiscard]] CommandResult inspect_data(data::SourceOptions& source) const {
    if (is_table_only_ && (is_decoded_ || !broken_.empty())) {
      refuse_arguments("inspect --no-files", "neither --pixels nor --broken",
                       is_decoded_ ? "also --pixels" : "also --broken", "only one of these options");
    }
    source.unnamed_labels = data::UnnamedLabels::Propose;
    data::place_folders(source, data_);
    const data::Dataset dataset = data::load_dataset(source);
    terminal::print(data::describe(dataset));
    std::fflush(stdout);
    Value json = data::describe_value(dataset);
    if (is_table_only_) return {.json = std::move(json)};
    const data::Census census = count_files(dataset);
    terminal::print(data::to_text(census));
    json.set("files", data::to_value(census));
    if (!broken_.empty()) write_broken(dataset, census);
    return {.json = std::move(json)};
  }
  [[nodiscard]] data::Census count_files(const data::Dataset& dataset) const {
    data::CensusOptions options{.depth = is_decoded_ ? data::CensusDepth::Pixels : data::CensusDepth::Headers,
                                .threads = static_cast<int>(workers_)};
    if (terminal::has_progress()) {
      options.on_progress = [&dataset](std::int64_t done) {
        terminal::show_progress(
            fmt::format("{}/{} {}", done, dataset.samples.size(), plural(std::ssize(dataset.samples), "image")));
      };
    }
    data::Census census = data::take_census(dataset, options);
    terminal::clear_progress();
    return census;
  }
  void write_broken(const data::Dataset& dataset, const data::Census& census) const {
    std::string text = "image,reason\n";
    for (const data::BrokenImage& image : census.broken) {
      text += csv_field(dataset.samples[image.sample].id) + "," + csv_field(image.reason) + "\n";
    }
    io::write_file_atomically(broken_, text);
  }

  std::string model_;
  std::vector<std::string> data_;
  std::filesystem::path recipe_;
  std::vector<std::string> overrides_;
  task::ModelShape shape_{.image_px = 0};
  std::string image_;
  std::string device_;
  std::string card_;
  bool is_text_ = false;
  bool is_planned_ = false;
  bool is_decoded_ = false;
  bool is_table_only_ = false;
  std::filesystem::path broken_;
  std::int64_t workers_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_inspect_command() { return std::make_unique<InspectCommand>(); }

}  // namespace roentgen::cli
