// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/train_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/file.h"
#include "task/recipe_list.h"
#include "train/observer.h"
#include "train/run_id.h"
#include "train/trainer_testing.h"

namespace roentgen::task {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// After an update, replaces the run folder by that of another process that has just begun.
class Replacer : public train::Observer {
 public:
  explicit Replacer(train::RunFolder run) : run_(std::move(run)) {}
  void on_step(const train::StepRecord& record) override {
    if (record.step != 2) return;
    fs::rename(run_.root(), run_.root().string() + "-moved");
    run_.create_new();
    lock.emplace(run_.root());
    train::ensure_run_id(run_);
    io::write_file_atomically(run_.recipe(), "[train]\n");
  }

  std::optional<train::RunLock> lock;  ///< lock of the other process

 private:
  train::RunFolder run_;
};

class ReplacedRun : public train::Trainer {};

TEST_F(ReplacedRun, writes_and_removes_nothing_in_the_folder_of_the_new_one) {
  train::Recipe recipe = read_recipe(
      "quickstart", std::vector<std::string>{"model.width=8", "preprocess.size=32", "train.batch=2", "train.epochs=1",
                                             "train.workers=1", "train.threads=1", "train.checkpoint_steps=1",
                                             "data.labels=[\"bright\", \"noise\"]"});
  recipe.data.root = data_.path();
  const train::RunFolder folder(out_.path() / "run");
  Replacer replacer(folder);
  {
    TrainRun runs({.observers = {&replacer}});
    EXPECT_THAT(data::message_of<DataError>([&] { static_cast<void>(runs.train(recipe, folder)); }),
                HasSubstr("the run that this process trains"));
  }
  ASSERT_TRUE(replacer.lock);
  EXPECT_TRUE(replacer.lock->is_named());
  EXPECT_TRUE(fs::exists(folder.recipe()));
  EXPECT_NE(train::run_id(folder), "");
  EXPECT_TRUE(fs::is_empty(folder.checkpoints()));
  EXPECT_TRUE(fs::exists(train::RunFolder(out_.path() / "run-moved").resume())) << "of the first update";
}

}  // namespace
}  // namespace roentgen::task
