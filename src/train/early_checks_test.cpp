// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/early_checks.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "train/recipe.h"

namespace roentgen::train {
namespace {

// A recipe as a checkpoint keeps it, without a key that was not there yet when its run began.
TEST(ChangedRecipe, a_key_that_is_newer_than_the_run_had_its_default) {
  Recipe recipe;
  const Value now = to_value(recipe);
  Value begun = Value::table();
  for (const auto& [section, table] : now.as_table()) {
    Value kept = Value::table();
    for (const auto& [name, value] : table.as_table()) {
      if (name != "dtype") kept.set(name, value);
    }
    begun.set(section, std::move(kept));
  }
  ASSERT_EQ(begun.find_path("train.dtype"), nullptr);
  EXPECT_NO_THROW(refuse_changed_recipe(begun, now));
  recipe.train.dtype = "bf16";
  EXPECT_THROW(refuse_changed_recipe(begun, to_value(recipe)), ConfigError);
  EXPECT_THROW(refuse_changed_recipe(now, to_value(recipe)), ConfigError);
}

}  // namespace
}  // namespace roentgen::train
