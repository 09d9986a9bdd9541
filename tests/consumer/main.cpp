// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A program that uses libroentgen: trains a small network on a folder of labelled images and prints its AUROCs on the
// test images. Usage: consumer DATA RUN, where RUN is the folder to make. docs/guide/cpp.md explains it.
#include <roentgen/core/error.h>
#include <roentgen/data/source/dataset.h>
#include <roentgen/data/source/describe.h>
#include <roentgen/engine/engine.h>
#include <roentgen/eval/table.h>
#include <roentgen/graph/builder.h>
#include <roentgen/train/load_checkpoint.h>
#include <roentgen/train/predict.h>
#include <roentgen/train/recipe.h>
#include <roentgen/train/run_folder.h>
#include <roentgen/train/trainer.h>

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>

namespace data = roentgen::data;
namespace engine = roentgen::engine;
namespace eval = roentgen::eval;
namespace graph = roentgen::graph;
namespace train = roentgen::train;

namespace {

constexpr const char* kRecipe = R"(
[preprocess]
preset = "xray"
size = 64

[train]
epochs = 10
batch = 16

[optimizer]
lr = 1e-2
)";

// Builds a network of three convolutions that each halve the image, and a linear layer on the mean over the pixels. The
// trainer and checkpoints require the names "image" and "logits".
graph::Graph make_network(const train::Recipe& recipe, std::int64_t labels) {
  const std::int64_t side = recipe.preprocess.size_px;
  graph::Builder builder("tiny");
  graph::NodeId x = builder.input("image", {recipe.train.batch, recipe.preprocess.channels, side, side});
  for (const int stage : {1, 2, 3}) {
    const graph::Conv2d conv{
        .out_channels = 8 << stage, .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}, .bias = false};
    x = builder.add("conv" + std::to_string(stage), conv, {x});
    x = builder.add("norm" + std::to_string(stage), graph::BatchNorm{}, {x});
    x = builder.add("relu" + std::to_string(stage), graph::Relu{}, {x});
  }
  x = builder.add("pool", graph::GlobalAvgPool{}, {x});
  x = builder.add("flatten", graph::Flatten{}, {x});
  builder.output("logits", builder.add("classifier", graph::Linear{.out_features = labels}, {x}));
  return std::move(builder).build();
}

void train_and_score(const std::filesystem::path& data_folder, const std::filesystem::path& run_folder) {
  const data::Dataset dataset = data::load_dataset({.root = data_folder});
  std::cout << data::describe(dataset);

  const train::Recipe recipe = train::parse_recipe(kRecipe, "recipe of consumer", {});
  const graph::Graph network = make_network(recipe, std::ssize(dataset.label_names));
  const auto cpu = engine::make_engine("cpu");
  const train::RunFolder folder(run_folder);
  const train::TrainJob job{
      .recipe = recipe,
      .dataset = dataset,
      .model = network,
      .engine = *cpu,
      .folder = folder,
      .on_ready = [&] { folder.create_new(); },
  };
  const train::TrainOutcome outcome = train::train(job);
  std::cout << outcome.step << " updates, loss of the last epoch " << outcome.train_loss << "\n";

  const train::LoadedModel model = train::load_checkpoint(folder.best(), *cpu, {.batch = recipe.train.batch});
  const train::PredictResult result =
      train::predict(*model.executable, dataset, data::samples_of(dataset, data::Split::Test),
                     {.preprocess = model.preprocess, .loss = model.info.loss});
  std::cout << eval::to_text(eval::evaluate(result.predictions));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: consumer DATA RUN\n";
    return 2;
  }
  try {
    train_and_score(argv[1], argv[2]);
  } catch (const roentgen::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
