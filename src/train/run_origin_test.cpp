// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/run_origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/source/source_testing.h"

namespace roentgen::train {
namespace {

using testing::ElementsAre;

TEST(RunOrigin, is_taken_where_the_command_line_does_not_say_it) {
  const data::TestFolder folder;
  folder.write("run/recipe.toml", "[train]\n");
  folder.write("run/data_folders.txt", folder_lines({.sources = {{.root = "/a/x", .name = "x"}, {.root = "/b/../c"}}}));
  const RunFolder run(folder.path() / "run");
  std::filesystem::path recipe;
  std::vector<std::string> data;
  take_from_run(run, recipe, data);
  EXPECT_EQ(recipe, run.recipe());
  EXPECT_THAT(data, ElementsAre("x=/a/x", "=/c"));

  recipe = "mine.toml";
  data = {"other"};
  take_from_run(run, recipe, data);
  EXPECT_EQ(recipe, "mine.toml");
  EXPECT_THAT(data, ElementsAre("other"));
  EXPECT_EQ(folder_lines({.root = "/a/b/"}), "/a/b/\n");
}

TEST(RunOrigin, a_folder_without_a_run_is_named) {
  const data::TestFolder folder;
  std::filesystem::path recipe;
  std::vector<std::string> data;
  EXPECT_THROW(take_from_run(RunFolder(folder.path() / "none"), recipe, data), ConfigError);
}

}  // namespace
}  // namespace roentgen::train
