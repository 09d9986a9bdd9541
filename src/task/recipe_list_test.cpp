// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/recipe_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/error.h"
#include "core/folder_testing.h"
#include "task/model.h"
#include "task/model_list.h"

namespace roentgen::task {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& recipe) {
  try {
    static_cast<void>(read_recipe(recipe, {}));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

TEST(RecipeList, every_recipe_is_read_and_its_network_built) {
  ASSERT_GE(built_in_recipes().size(), 15U);
  for (const BuiltInRecipe& each : built_in_recipes()) {
    SCOPED_TRACE(each.name);
    EXPECT_THAT(std::string(each.text), HasSubstr("# Result  "));
    EXPECT_THAT(std::string(each.text), HasSubstr("--recipe " + std::string(each.name)));
    EXPECT_GT(each.summary.size(), 20U);
    EXPECT_TRUE(each.summary.ends_with(".")) << "a line that ends in the middle of a sentence";
    const train::Recipe recipe = read_recipe(std::string(each.name), {});
    EXPECT_NO_THROW(static_cast<void>(make_model(
        recipe.model, {.batch = 2, .channels = recipe.preprocess.channels, .image_px = recipe.preprocess.size_px})));
  }
}

TEST(RecipeList, a_file_comes_before_a_recipe_of_its_name) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "default";
  std::ofstream(file) << "[train]\nepochs = 3\n";
  EXPECT_EQ(read_recipe(file, {}).train.epochs, 3);
  const std::vector<std::string> overrides{"train.epochs=5"};
  EXPECT_EQ(read_recipe("default", overrides).train.epochs, 5);
  EXPECT_EQ(read_recipe("default", {}).model.name, "densenet121");
}

TEST(RecipeList, an_unknown_name_is_refused_with_the_nearest) {
  EXPECT_THAT(refusal("defalt"), testing::AllOf(HasSubstr("[task.recipe] defalt: expected a file, or one of caffe, "),
                                                testing::EndsWith("; try default")));
  EXPECT_THAT(refusal("none/default.toml"),
              HasSubstr("[task.recipe] none/default.toml: expected a recipe file, or the name of a "
                        "built-in recipe, got no such file; try checking the path"));
}

TEST(ModelList, tells_what_inspect_counts) {
  const std::vector<BuiltInModel> models = built_in_models();
  const auto resnet = std::ranges::find(models, "resnet18", &BuiltInModel::name);
  ASSERT_NE(resnet, models.end());
  EXPECT_EQ(resnet->parameters, 11'689'512 - 2 * 64 * 49 - (1000 - 14) * 513) << "one channel, 14 labels";
  EXPECT_EQ(resnet->image_px, 224);
  for (const BuiltInModel& model : models) EXPECT_GT(model.multiply_adds, 1'000'000'000) << model.name;
}

}  // namespace
}  // namespace roentgen::task
