// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/early_checks.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/error.h"
#include "graph/builder.h"
#include "train/recipe.h"

namespace roentgen::train {
namespace {

// The older recipe lacks a key that exists today.
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

// Differing kernels are refused later, at compilation.
TEST(ChangedRecipe, device_may_change_and_may_have_its_earlier_name) {
  Recipe recipe;
  recipe.train.device = "cpu";
  Value begun = Value::table();
  begun.set_path("train.engine", "cpu");
  EXPECT_NO_THROW(refuse_changed_recipe(begun, to_value(recipe)));
  EXPECT_NO_THROW(refuse_changed_recipe(to_value(Recipe{}), to_value(recipe)));
}

std::string dtype_error(const std::string& dtype, const std::string& device) {
  try {
    check_dtype({.device = device, .dtype = dtype});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(CheckDtype, refuses_f16_and_tf32_on_the_host_alone) {
  EXPECT_EQ(dtype_error("f16", "cpu"),
            "[train.recipe] train.dtype: expected f32, bf16 or auto on the device cpu, got f16; try --dtype bf16, or "
            "--device cuda");
  EXPECT_EQ(dtype_error("tf32", "cpu"),
            "[train.recipe] train.dtype: expected f32, bf16 or auto on the device cpu, got tf32; try --dtype f32, or "
            "--device cuda");
  for (const char* dtype : {"f32", "bf16", "auto"}) EXPECT_EQ(dtype_error(dtype, "cpu"), "");
  for (const char* device : {"cuda", "cuda:1"}) {
    for (const char* dtype : {"f16", "tf32"}) EXPECT_EQ(dtype_error(dtype, device), "");
  }
}

/// Network with a batch norm over images of `image_px` pixels, and a recipe for it.
struct NormCase {
  std::int64_t batch = 1;
  std::int64_t image_px = 1;
  int ranks = 1;
  const char* batch_norm = "local";
  const char* device = "cpu";

  void check() const {
    Recipe recipe;
    recipe.train.batch = batch;
    recipe.train.batch_norm = batch_norm;
    recipe.train.device = device;
    recipe.preprocess.channels = 1;
    recipe.preprocess.size_px = image_px;
    graph::Builder b("net");
    auto x = b.input("image", {batch, 1, image_px, image_px});
    x = b.add("norm", graph::BatchNorm{}, {x});
    x = b.add("flatten", graph::Flatten{}, {x});
    b.output("logits", b.add("fc", graph::Linear{.out_features = 2}, {x}));
    check_model(recipe, std::move(b).build(), ranks);
  }
};

TEST(BatchNormValues, of_a_channel_are_two_or_more) {
  EXPECT_NO_THROW((NormCase{.batch = 2}.check()));
  EXPECT_NO_THROW((NormCase{.image_px = 2}.check()));
  EXPECT_NO_THROW((NormCase{.ranks = 2, .batch_norm = "sync"}.check()));
  const auto refusal = [](const NormCase& bad) -> std::string {
    try {
      bad.check();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({}),
            "[train.model] net: norm: expected at least 2 values per channel to normalise, got 1, from a "
            "batch of 1 at 1x1 pixels; try a larger train.batch or preprocess.size");
  EXPECT_NE(
      refusal({.ranks = 4}).find("per rank; try a larger train.batch or preprocess.size, or train.batch_norm=sync"),
      std::string::npos);
  EXPECT_EQ(refusal({.ranks = 4, .device = "cuda"}).find("batch_norm=sync"), std::string::npos) << "it has none";
  EXPECT_NE(refusal({.batch_norm = "sync"}), "") << "of one rank alone";
}

}  // namespace
}  // namespace roentgen::train
