// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Trains with a second engine, the reference interpreter: the host cannot read its memory, and its work is done later.
// The network is a small version of the one in the quickstart. The test runs recipe, loader, stepper, ranks, checkpoint
// and resume as the program does. Input slots hold pixels, as on a GPU.
#include <gtest/gtest.h>

#include "dist/comm_thread.h"
#include "task/model.h"
#include "task/recipe_list.h"
#include "train/ranks_testing.h"
#include "train/trainer_testing.h"

namespace roentgen::task {
namespace {

using train::Start;

constexpr std::int64_t kSteps = 10;

class SecondEngine : public train::Trainer {
 protected:
  void SetUp() override {
    Trainer::SetUp();
    recipe_ = read_recipe("quickstart", std::vector<std::string>{"model.width=8", "preprocess.size=32", "train.batch=2",
                                                                 "train.epochs=1", "train.workers=1", "train.threads=1",
                                                                 "data.labels=[\"bright\", \"noise\"]"});
  }

  /// Trains until `stop_after` updates are made, as one rank of `group`, or as a single process if `group` is null.
  train::TrainOutcome train_into(const train::RunFolder& folder, Start start, std::int64_t stop_after,
                                 dist::CommThread* group) {
    const data::Dataset dataset = load();
    const graph::Graph model = make_model(recipe_.model, {.batch = recipe_.train.batch,
                                                          .channels = recipe_.preprocess.channels,
                                                          .image_px = recipe_.preprocess.size_px,
                                                          .labels = std::ssize(dataset.label_names)});
    engine::reference::ReferenceEngine engine;
    engine.slots = DType::U16;
    return train::train({.recipe = recipe_,
                         .dataset = dataset,
                         .model = model,
                         .engine = engine,
                         .folder = folder,
                         .start = start,
                         .observers = {},
                         .is_stop_asked = {},
                         .stop_after_steps = stop_after,
                         .group = group});
  }
  train::RunFolder folder(const std::string& name, Start start) {
    const train::RunFolder folder(out_.path() / name);
    if (start == Start::Fresh) folder.create_new();
    return folder;
  }
  void run_alone(const std::string& name, Start start, std::int64_t stop_after) {
    EXPECT_EQ(train_into(folder(name, start), start, stop_after, nullptr).step, stop_after);
  }
  void run_as_two(const std::string& name, Start start, std::int64_t stop_after) {
    const train::RunFolder out = folder(name, start);
    train::expect_none(train::as_ranks(
        2, [&](dist::CommThread& comm) { EXPECT_EQ(train_into(out, start, stop_after, &comm).step, stop_after); }));
  }
};

TEST_F(SecondEngine, goes_on_to_the_bits_of_a_run_that_was_not_stopped) {
  run_alone("straight", Start::Fresh, kSteps);
  run_alone("stopped", Start::Fresh, kSteps / 2);
  const std::vector<float> half = resume_of("stopped").weights[0].values;
  run_alone("stopped", Start::Resume, kSteps);
  EXPECT_NE(resume_of("stopped").weights[0].values, half) << "it learns";
  expect_same_end(resume_of("straight"), resume_of("stopped"));
}

TEST_F(SecondEngine, of_two_ranks_goes_on_to_the_same_bits) {
  recipe_.train.epochs = 2;  // 2 epochs of 8 updates
  recipe_.train.clip_norm = 1.0;
  run_as_two("straight", Start::Fresh, kSteps);
  run_as_two("stopped", Start::Fresh, kSteps / 2);
  run_as_two("stopped", Start::Resume, kSteps);
  expect_same_end(resume_of("straight"), resume_of("stopped"));
}

// In f16 the first updates overflow, and all ranks skip them. A resumed run continues with the loss scale at which it
// stopped.
TEST_F(SecondEngine, of_two_ranks_in_f16_skips_the_same_updates_on_both) {
  recipe_.train.epochs = 2;  // 2 epochs of 8 updates
  recipe_.train.dtype = "f16";
  recipe_.train.loss_scale = 4096.0;
  recipe_.train.loss_growth = 3;
  run_as_two("straight", Start::Fresh, kSteps);
  const auto scale = resume_of("straight").state.loss_scale;
  ASSERT_TRUE(scale.has_value());
  EXPECT_GT(scale->skipped, 0);
  EXPECT_LT(scale->skipped, kSteps);
  run_as_two("stopped", Start::Fresh, kSteps / 2);
  run_as_two("stopped", Start::Resume, kSteps);
  expect_same_end(resume_of("straight"), resume_of("stopped"));
}

TEST_F(SecondEngine, accumulates_and_averages_weights) {
  recipe_.train.accumulate = 2;
  recipe_.train.ema = 0.9;
  run_alone("straight", Start::Fresh, 6);
  run_alone("stopped", Start::Fresh, 3);
  run_alone("stopped", Start::Resume, 6);
  EXPECT_FALSE(resume_of("straight").ema.empty());
  expect_same_end(resume_of("straight"), resume_of("stopped"));
}

}  // namespace
}  // namespace roentgen::task
