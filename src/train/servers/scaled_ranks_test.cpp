// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/servers/scaled_ranks.h"

#include <gtest/gtest.h>

#include "train/recipe.h"
#include "train/schedule/schedule.h"

namespace roentgen::train {
namespace {

constexpr int kWorkers = 4;
const char* const kAdaptive[] = {"adam", "adamw", "rmsprop"};
const char* const kPlain[] = {"sgd", "lars"};

TEST(ScaledRanks, are_all_workers_where_an_update_has_the_images_of_all) {
  for (const UpdateWay way : {UpdateWay::Sync, UpdateWay::Servers}) {
    for (const char* name : kAdaptive) EXPECT_EQ(scaled_ranks({.name = name}, kWorkers, way), kWorkers) << name;
    for (const char* name : kPlain) EXPECT_EQ(scaled_ranks({.name = name}, kWorkers, way), kWorkers) << name;
  }
}

TEST(ScaledRanks, are_one_in_asynchronous_updates_whose_steps_grow_with_the_gradient) {
  for (const char* name : kAdaptive) EXPECT_EQ(scaled_ranks({.name = name}, kWorkers, UpdateWay::Async), kWorkers);
  for (const char* name : kPlain) EXPECT_EQ(scaled_ranks({.name = name}, kWorkers, UpdateWay::Async), 1) << name;
}

TEST(ScaledRanks, keep_the_rate_of_adam_in_an_asynchronous_run) {
  Recipe recipe;
  recipe.optimizer.lr = 1e-3;
  recipe.optimizer.lr_batch = kWorkers * recipe.train.batch;
  constexpr std::int64_t kSteps = 10;
  const auto rate = [&](const char* name) {
    recipe.optimizer.name = name;
    return schedule_options(recipe, kSteps, scaled_ranks(recipe.optimizer, kWorkers, UpdateWay::Async)).base_lr;
  };
  EXPECT_DOUBLE_EQ(rate("adam"), 1e-3);
  EXPECT_DOUBLE_EQ(rate("sgd"), 0.25e-3);
}

}  // namespace
}  // namespace roentgen::train
