// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/model.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace roentgen::task {
namespace {

TEST(Model, every_model_can_be_built_for_its_own_size) {
  train::ModelRecipe model{.name = "inception_v3"};
  EXPECT_EQ(own_image_px(model), 299);
  EXPECT_NO_THROW((void)make_model(model, {.batch = 1, .image_px = own_image_px(model)}));
  EXPECT_THROW((void)make_model(model, {.batch = 1}), ConfigError) << "its auxiliary classifier needs 299 px";
  model.name = "resnet18";
  EXPECT_EQ(own_image_px(model), 224);
  model.name = "resnet19";
  EXPECT_THROW((void)own_image_px(model), ConfigError);
  model.file = "net.txt";
  EXPECT_EQ(own_image_px(model), 224);
}

}  // namespace
}  // namespace roentgen::task
