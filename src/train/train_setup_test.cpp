// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the order of the steps before the first update, and the errors of each step.
#include "train/train_setup.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/error.h"
#include "io/file.h"
#include "io/json.h"
#include "train/train_job.h"
#include "train/training_ranks_testing.h"

namespace roentgen::train {
namespace {

namespace fs = std::filesystem;
using data::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

/// Returns the texts of all files in a folder, by path.
std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    files[entry.path()] = entry.is_regular_file() ? io::read_text(entry.path()).or_throw() : "folder";
  }
  return files;
}

/// Fixture that sets up a training job in one process but does not train.
class SetupOfAJob : public Trainer {
 protected:
  void set_up(Start start = Start::Fresh, std::int64_t labels_of_model = 2) {
    const data::Dataset dataset = load();
    const graph::Graph model = flat_model(recipe_.train.batch, kSizePx, labels_of_model);
    const RunFolder folder(out_.path() / "run");
    static_cast<void>(make_train_setup({.recipe = recipe_,
                                        .dataset = dataset,
                                        .model = model,
                                        .engine = engine_,
                                        .folder = folder,
                                        .start = start,
                                        .observers = {},
                                        .on_ready = [&] { make_folder(folder, start); },
                                        .is_stop_asked = {}}));
  }

  void make_folder(const RunFolder& folder, Start start) {
    ++ready_;
    EXPECT_EQ(files_in(out_.path()), before_) << "written before the folder is made";
    if (start == Start::Fresh) folder.create_new();
  }

  std::map<std::string, std::string> before_;
  int ready_ = 0;
};

TEST_F(SetupOfAJob, writes_nothing_before_the_folder_is_made) {
  set_up();
  EXPECT_EQ(ready_, 1);
  EXPECT_TRUE(fs::exists(RunFolder(out_.path() / "run").plan()));
}

TEST_F(SetupOfAJob, refuses_a_recipe_before_anything_is_written) {
  const Recipe sound = recipe_;
  const std::pair<std::function<void(TrainRecipe&)>, const char*> cases[] = {
      {[](TrainRecipe& train) { train.accumulate = 5; }, "train.accumulate: expected at most the 4 batches"},
      {[](TrainRecipe& train) { train.batch = 40; },
       "train.batch: expected at least one full batch per rank, with 1 rank and 32 training images, got 40"},
      {[](TrainRecipe& train) { train.slots = 1; }, "train.slots: expected 2 or more"},
      {[](TrainRecipe& train) { train.memory_mb = 1, train.slots = 100'000; }, "expected"},
      {[](TrainRecipe& train) { train.init = "/nowhere/weights.safetensors"; }, "/nowhere/weights.safetensors"},
      {[](TrainRecipe& train) { train.choices = "/nowhere/choices.json"; }, "/nowhere/choices.json"},
      {[](TrainRecipe& train) { train.choices = "x", train.algorithms = "direct"; }, "train.algorithms = \"auto\""},
      {[](TrainRecipe& train) { train.pipeline = "nonsense"; }, "pipeline"}};
  for (const auto& [change, text] : cases) {
    recipe_ = sound;
    change(recipe_.train);
    EXPECT_THAT(message_of<ConfigError>([&] { set_up(); }), HasSubstr(text));
    EXPECT_TRUE(files_in(out_.path()).empty()) << text;
  }
  EXPECT_EQ(ready_, 0);
}

TEST_F(SetupOfAJob, refuses_a_model_of_another_shape) {
  EXPECT_THAT(message_of<ConfigError>([&] { set_up(Start::Fresh, 3); }), HasSubstr("model: logits"));
  EXPECT_EQ(ready_, 0);
}

TEST_F(SetupOfAJob, refuses_a_selection_that_is_undefined) {
  std::string csv = "path,patient,split,bright,noise\n";
  for (int i = 0; i < 48; ++i) csv += fmt::format("img{:02}.png,p{},{},0,0\n", i, i, i < 32 ? "train" : "val");
  data_.write("labels.csv", csv);
  EXPECT_THAT(message_of<ConfigError>([&] { set_up(); }), HasSubstr("train.select=loss"));
  EXPECT_EQ(ready_, 0);
}

TEST_F(SetupOfAJob, leaves_a_run_as_it_is_that_another_recipe_cannot_resume) {
  run("run", Start::Fresh, 3);
  before_ = files_in(out_.path());
  recipe_.optimizer.lr = 0.01;
  EXPECT_THAT(message_of<ConfigError>([&] { set_up(Start::Resume); }), HasSubstr("optimizer.lr"));
  EXPECT_EQ(files_in(out_.path()), before_);
  recipe_.optimizer.lr = 0.05;
  set_up(Start::Resume);
  EXPECT_EQ(ready_, 1);
}

/// Fixture that sets up a training job on two ranks but does not train.
class SetupOfRanks : public RanksOfARun {
 protected:
  void SetUp() override {
    RanksOfARun::SetUp();
    recipe_.train.batch = 4;
    recipe_.train.ema = 0.9;
  }

  using Look = std::function<void(int rank, TrainSetup& setup)>;

  std::vector<std::exception_ptr> set_up(Start start, const Change& change, const Look& look = {},
                                         std::chrono::milliseconds limit = kLimit) {
    const RunFolder folder(out_.path() / "run");
    group_.emplace(2);
    return with_jobs(
        *group_, folder, start,
        [&](int rank, TrainJob& job) {
          job.on_ready = [&] {
            ready_after_ = group_->phases(0);
            if (start == Start::Fresh) folder.create_new();
          };
          job.trace = TraceOptions{};
          if (change) change(rank, job);
        },
        [&](const TrainJob& job) {
          TrainSetup setup = make_train_setup(job);
          if (look) look(job.group->rank(), setup);
        },
        limit);
  }

  /// Group of ranks of the last set_up().
  std::optional<dist::LocalGroup> group_;
  /// Phases that rank 0 had completed just before it created the run folder.
  std::vector<std::string> ready_after_;
};

TEST_F(SetupOfRanks, meet_in_the_order_of_the_steps) {
  expect_none(set_up(Start::Fresh, {}));
  EXPECT_THAT(group_->phases(0), ElementsAre("comparing jobs", "comparing data", "sharing the cache", "clocks", "plan",
                                             "first weights", "statistics", "trace"));
  EXPECT_EQ(group_->phases(1), group_->phases(0));
  EXPECT_EQ(ready_after_.back(), "statistics");
}

TEST_F(SetupOfRanks, meet_in_the_order_of_the_steps_on_resume) {
  expect_none(run_ranks(2, 4, "run", Start::Fresh, 3));
  expect_none(set_up(Start::Resume, {}));
  EXPECT_THAT(group_->phases(0), ElementsAre("comparing jobs", "comparing data", "sharing the cache", "clocks",
                                             "resume file", "plan", "first weights", "statistics", "trace"));
  EXPECT_EQ(group_->phases(1), group_->phases(0));
  EXPECT_EQ(ready_after_.back(), "statistics");
}

TEST_F(SetupOfRanks, is_the_same_on_all) {
  for (const Start start : {Start::Fresh, Start::Resume}) {
    if (start == Start::Resume) {
      fs::remove_all(out_.path() / "run");
      expect_none(run_ranks(2, 4, "run", Start::Fresh, 3));
    }
    std::array<std::vector<std::string>, 2> seen;
    expect_none(set_up(start, {}, [&](int rank, TrainSetup& setup) {
      std::vector<std::string>& texts = seen.at(static_cast<std::size_t>(rank));
      texts = {io::to_json(to_value(setup.state)), io::to_json(setup.schedule->state()),
               fmt::format("{}", setup.schedule->lr(setup.state.step)), fmt::format("{}", setup.planned_bytes)};
      for (const auto& tensors : {weights_of(*setup.executable), setup.ema->state()}) {
        for (const NamedTensor& tensor : tensors) texts.push_back(fmt::format("{}", fmt::join(tensor.values, " ")));
      }
      EXPECT_EQ(setup.logs.empty(), rank != 0);
      EXPECT_EQ(setup.state.step, start == Start::Resume ? 3 : 0);
    }));
    EXPECT_EQ(seen[0], seen[1]);
  }
}

TEST_F(SetupOfRanks, fails_on_all_with_one_message_where_they_differ) {
  const auto expect = [&](const std::string& text, const Change& change = {}) {
    const auto errors = set_up(Start::Fresh, change);
    EXPECT_THAT(text_of(errors[1]), HasSubstr(text));
    EXPECT_EQ(text_of(errors[0]), text_of(errors[1]));
    EXPECT_TRUE(files_in(out_.path()).empty());
  };
  expect("--stop-after on rank 1: expected 2, as on rank 0, got 3",
         [](int rank, TrainJob& job) { job.stop_after_steps = 2 + rank; });
  machine_of_ = [](int rank, ReferenceEngine& engine) { engine.form.choice = rank == 1 ? "rounded" : "plain"; };
  expect("choice of kernels on rank 1 (here)");
  machine_of_ = {};
  other_recipe_ = [](Recipe& recipe) { std::get<engine::Sgd>(recipe.optimizer.rules).momentum = 0.5; };
  expect("optimizer.momentum on rank 1: expected 0.9, as on rank 0, got 0.5");
  other_recipe_ = [](Recipe& recipe) { recipe.schedule.milestones_epochs = {1.0}; };
  expect("schedule.milestones_epochs on rank 1: expected [], as on rank 0, got [1.0]");
  other_recipe_ = {};
  other_data_ = [](data::Dataset& dataset) { dataset.label_names[1] = "other"; };
  expect("labels on rank 1: expected bright, noise, as on rank 0, got bright, other");
  other_data_ = [](data::Dataset& dataset) { dataset.samples[2].labels[0] = 0.5F; };
  expect("image 3 on rank 1, img02.png: expected bright 1, as on rank 0, got bright 0.5");
}

TEST_F(SetupOfRanks, end_with_one_line_where_one_fails_alone) {
  constexpr std::chrono::milliseconds kShort{2000};  // timeout of the other rank
  const auto expect = [&](const std::string& text, const Change& change = {}) {
    const auto errors = set_up(Start::Fresh, change, {}, kShort);
    EXPECT_THAT(text_of(errors[0]), HasSubstr(text));
    EXPECT_THAT(text_of(errors[1]), HasSubstr("rank 0"));
    EXPECT_THAT(may_tell_, ElementsAre(1, 0)) << "rank 0 says it, and nobody else";
    EXPECT_TRUE(files_in(out_.path()).empty());
  };
  recipe_.train.init = "/nowhere/weights.safetensors";
  expect("/nowhere/weights.safetensors");
  recipe_.train.init.clear();
  expect("no space left", [](int, TrainJob& job) {
    job.on_ready = [] { throw DataError(error_text("test.disk", "run", "a folder", "no space left")); };
  });
}

}  // namespace
}  // namespace roentgen::train
