// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fixture that runs the training loop on image files with the reference engine, for tests.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/random.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"
#include "io/json.h"
#include "io/png_writer.h"
#include "io/safetensors.h"
#include "train/flat_model_testing.h"
#include "train/recipe.h"
#include "train/resume.h"
#include "train/run_folder.h"
#include "train/trainer.h"

namespace roentgen::train {

inline constexpr std::int64_t kSizePx = 8;

/// Writes 48 images and their labels. The label "bright" is positive for bright images; "noise" is random.
inline void write_data(const data::TestFolder& folder) {
  std::string csv = "path,patient,split,bright,noise\n";
  Random random(5, RandomStage::Test);
  for (int i = 0; i < 48; ++i) {
    const bool is_bright = i % 2 == 0;
    std::vector<std::byte> pixels(kSizePx * kSizePx);
    for (std::byte& pixel : pixels) {
      pixel = static_cast<std::byte>(static_cast<int>(random.uniform(0.0, 120.0)) + (is_bright ? 90 : 40));
    }
    const std::string name = fmt::format("img{:02}.png", i);
    io::write_png(folder.path() / name, {.width_px = kSizePx, .height_px = kSizePx, .pixels = pixels});
    csv += fmt::format("{},p{},{},{},{}\n", name, i, i < 32 ? "train" : "val", is_bright ? 1 : 0,
                       random.chance(0.5) ? 1 : 0);
  }
  folder.write("labels.csv", csv);
}

/// Fixture with a recipe for the images of write_data(), and functions that run it.
class Trainer : public testing::Test {
 protected:
  void SetUp() override {
    write_data(data_);
    recipe_ = parse_recipe(
        "[data]\nlabels = [\"bright\", \"noise\"]\n[preprocess]\nsize = 8\n[augment]\nflip = 0.5\n"
        "[train]\nepochs = 4\nbatch = 8\nworkers = 2\nthreads = 1\n"
        "[optimizer]\nname = \"adam\"\nlr = 0.05\n[schedule]\nname = \"cosine\"\n",
        "test", {});
  }

  data::Dataset load() {
    data::SourceOptions source = recipe_.data;
    source.root = data_.path();
    return data::load_dataset(source);
  }

  // Trains with <temporary>/<name> as run folder.
  TrainOutcome run(const std::string& name, Start start = Start::Fresh, std::int64_t stop_after = 0) {
    const data::Dataset dataset = load();
    const graph::Graph model = flat_model(recipe_.train.batch, kSizePx, 2);
    const RunFolder folder(out_.path() / name);
    if (start == Start::Fresh) folder.create_new();
    return train({.recipe = recipe_,
                  .dataset = dataset,
                  .model = model,
                  .engine = engine_,
                  .folder = folder,
                  .start = start,
                  .observers = {},
                  .is_stop_asked = {},
                  .stop_after_steps = stop_after,
                  .device_monitor = monitor_});
  }
  Resume resume_of(const std::string& name) { return read_resume(RunFolder(out_.path() / name).resume()); }

  // Replaces the state in a resume file and keeps its weights.
  void rewrite_state(const std::string& name, const RunState& state) {
    const std::filesystem::path path = RunFolder(out_.path() / name).resume();
    const auto reader = io::SafetensorsReader::open(path).or_throw();
    std::vector<io::TensorToWrite> tensors;
    for (const io::TensorInfo& each : reader.tensors()) {
      tensors.push_back({.name = each.name, .dtype = each.dtype, .shape = each.shape, .bytes = reader.bytes(each)});
    }
    auto metadata = reader.metadata();
    metadata.at("run_state") = io::to_json(to_value(state), -1);
    io::write_safetensors(path, tensors, metadata);
  }

  static void expect_same_end(const Resume& a, const Resume& b) {
    EXPECT_EQ(a.state, b.state);
    ASSERT_EQ(a.weights.size(), b.weights.size());
    for (std::size_t i = 0; i < a.weights.size(); ++i) EXPECT_EQ(a.weights[i].values, b.weights[i].values);
    ASSERT_EQ(a.optimizer.size(), b.optimizer.size());
    for (std::size_t i = 0; i < a.optimizer.size(); ++i) EXPECT_EQ(a.optimizer[i].values, b.optimizer[i].values);
    ASSERT_EQ(a.ema.size(), b.ema.size());
    for (std::size_t i = 0; i < a.ema.size(); ++i) EXPECT_EQ(a.ema[i].values, b.ema[i].values);
  }

  data::TestFolder data_;
  data::TestFolder out_;
  Recipe recipe_;
  ReferenceEngine engine_;
  runtime::DeviceMonitor* monitor_ = nullptr;
};

}  // namespace roentgen::train
