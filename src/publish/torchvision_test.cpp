// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "publish/torchvision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/recipe.h"

namespace roentgen::publish {
namespace {

TEST(TorchvisionNote, tells_before_training_what_torchvision_cannot_make) {
  train::Recipe recipe;
  recipe.model.name = "resnet18";
  EXPECT_EQ(torchvision_note(recipe), "");
  recipe.model.width = 32;
  EXPECT_THAT(torchvision_note(recipe), testing::StartsWith("model.width = 32: torchvision has no such network"));
}

}  // namespace
}  // namespace roentgen::publish
