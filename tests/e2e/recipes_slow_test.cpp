// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that the recipes for real data reach the results stated in their headers. Each takes minutes.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;

fs::path recipe(std::string_view name) {
  const char* source = std::getenv("ROENTGEN_SOURCE_DIR");
  return (source != nullptr ? fs::path(source) : fs::current_path()) / "recipes" / name;
}

// Trains with a recipe and returns the table of validation results.
Value validation_of(const Workplace& place, std::string_view recipe_name, const fs::path& data) {
  place.must_run({"train", "--recipe", recipe(recipe_name), "--data", data, "--out", place / "run"});
  place.must_run({"eval", "--checkpoint", place / "run/checkpoints/best.safetensors", "--data", data, "--split", "val",
                  "--json", place / "eval.json"});
  return read_json(place / "eval.json").at("auroc");
}

TEST(RecipeResult, kermany_finds_pneumonia) {
  const fs::path data = real_data() / "kermany";
  if (!fs::is_directory(data)) GTEST_SKIP() << "NO REAL DATA at " << data << ": NOTHING TESTED";
  const Workplace place;
  EXPECT_GE(validation_of(place, "kermany.toml", data).at("mean").as_double(), 0.98);
}

TEST(RecipeResult, nih_view_and_sex_are_learnt) {
  const fs::path data = real_data() / "nih";
  if (!fs::is_directory(data)) GTEST_SKIP() << "NO REAL DATA at " << data << ": NOTHING TESTED";
  const Workplace place;
  const Value labels = validation_of(place, "nih_view_sex.toml", data).at("labels");
  EXPECT_GE(labels.at("View:AP").at("auroc").as_double(), 0.97);
  EXPECT_GE(labels.at("Sex:M").at("auroc").as_double(), 0.90);
}

}  // namespace
}  // namespace roentgen::e2e
