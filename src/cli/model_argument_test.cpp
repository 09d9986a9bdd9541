// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/model_argument.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "io/io_testing.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class ModelPaths : public testing::Test {
 protected:
  fs::path make(const std::string& name) const {
    fs::create_directories(folder_.path() / name);
    return folder_.path() / name;
  }
  io::testing::TemporaryFolder folder_;
};

TEST_F(ModelPaths, stand_between_commas) {
  EXPECT_THAT(model_paths("a.csv"), ElementsAre("a.csv"));
  EXPECT_THAT(model_paths("a.csv,runs/b,c"), ElementsAre("a.csv", "runs/b", "c"));
  for (const char* text : {"a,,b", ",a", "a,", ","}) EXPECT_THROW((void)model_paths(text), ConfigError) << text;
}

TEST_F(ModelPaths, that_are_there_keep_their_commas) {
  const fs::path path = folder_.path() / "lr=0.1,wd=0.csv";
  io::testing::put_file(path, "x");
  EXPECT_THAT(model_paths(path.string()), ElementsAre(path));
}

TEST_F(ModelPaths, of_a_folder_of_seeds_are_its_runs_by_number) {
  for (const char* name : {"runs/seed-10", "runs/seed-2", "runs/seed-0", "runs/seed-x", "runs/other"}) make(name);
  io::testing::put_file(folder_.path() / "runs/seed-7", "a file");
  const fs::path runs = folder_.path() / "runs";
  EXPECT_THAT(model_paths(runs.string()), ElementsAre(runs / "seed-0", runs / "seed-2", runs / "seed-10"));
  EXPECT_THAT(model_paths(runs.string() + ",b.csv"),
              ElementsAre(runs / "seed-0", runs / "seed-2", runs / "seed-10", "b.csv"));
  // A run folder stays one model even if it contains other runs. A folder without runs is returned unchanged.
  io::testing::put_file(runs / "recipe.toml", "");
  EXPECT_THAT(model_paths(runs.string()), ElementsAre(runs));
  const fs::path empty = make("empty");
  EXPECT_THAT(model_paths(empty.string()), ElementsAre(empty));
}

TEST_F(ModelPaths, of_files_are_read_in_the_order_of_the_first) {
  const fs::path a = folder_.path() / "a.csv", b = folder_.path() / "b.csv";
  io::testing::put_file(a, "Image Index,prob_Mass,prob_Edema\nx.png,0.1,0.2\ny.png,0.3,0.4\n");
  io::testing::put_file(b, "Image Index,prob_Edema,prob_Mass\ny.png,0.8,0.7\nx.png,0.6,0.5\n");
  const std::vector<score::ComparedModel> models = read_models("A", a.string() + "," + b.string());
  ASSERT_EQ(models.size(), 2U);
  EXPECT_THAT(models[1].predictions.labels, ElementsAre("Mass", "Edema"));
  EXPECT_THAT(models[1].predictions.images, ElementsAre("x.png", "y.png"));
  EXPECT_THAT(models[1].predictions.probabilities, ElementsAre(0.5F, 0.6F, 0.7F, 0.8F));
  EXPECT_FALSE(models[0].recipe.has_value());
  EXPECT_NE(models[0].predictions_sha256, models[1].predictions_sha256);
  EXPECT_THROW((void)read_models("A", a.string() + "," + a.string()), DataError);
}

}  // namespace
}  // namespace roentgen::cli
