// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests --device of every command that computes: equal bits by default and by name, and refusals before any work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Fixture with a stopped run and its weights; created once.
class Device : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = new Workplace;
    place_->synth("data", 80);
    place_->must_run(plus(place_->train_arguments(*place_ / "data", "run"), {"--device", "cpu"}));
  }
  static void TearDownTestSuite() {
    delete place_;
    place_ = nullptr;
  }
  static Workplace& place() { return *place_; }
  static std::string weights() { return place() / "run/checkpoints/best.safetensors"; }

 private:
  inline static Workplace* place_ = nullptr;
};

TEST_F(Device, of_a_run_is_in_its_recipe) {
  EXPECT_THAT(read_all(place() / "run/recipe.toml"), HasSubstr("\ndevice = \"cpu\""));
}

TEST_F(Device, of_a_run_may_have_its_earlier_name) {
  const auto parts = plus(place().train_arguments(place() / "data", "older"), {"--set", "train.epochs=2"});
  EXPECT_EQ(place().run(plus(parts, {"--device", "cpu", "--stop-after", "1"})).code, 3);
  std::string recipe = read_all(place() / "older/recipe.toml");
  const std::string now = "\ndevice = \"cpu\"";
  recipe.replace(recipe.find(now), now.size(), "\nengine = \"cpu\"");
  place().write("older/recipe.toml", recipe);
  place().must_run({"train", "--out", place() / "older", "--data", place() / "data", "--resume"});
}

TEST_F(Device, by_name_gives_what_the_default_gives) {
  for (const std::string name : {"auto", "cpu"}) {
    place().must_run({"eval", "--checkpoint", weights(), "--data", place() / "data", "--device", name, "--preds",
                      place() / (name + ".csv")});
    place().must_run({"predict", "--checkpoint", weights(), place() / "data/images", "--device", name, "--preds",
                      place() / (name + "-images.csv")});
    place().must_run({"export", "--checkpoint", weights(), "--out", place() / (name + ".onnx"), "--device", name});
  }
  EXPECT_EQ(read_all(place() / "auto.csv"), read_all(place() / "cpu.csv"));
  EXPECT_EQ(read_all(place() / "auto-images.csv"), read_all(place() / "cpu-images.csv"));
  EXPECT_EQ(read_all(place() / "auto.onnx"), read_all(place() / "cpu.onnx"));
}

TEST_F(Device, of_an_unknown_name_is_refused_before_any_work) {
  const std::string nodata = place() / "nodata";
  const std::vector<std::vector<std::string>> commands{
      plus(place().train_arguments(nodata, "never"), {"--device", "gpu"}),
      {"eval", "--checkpoint", weights(), "--data", nodata, "--device", "gpu"},
      {"predict", "--checkpoint", nodata, nodata, "--device", "gpu"},
      {"export", "--checkpoint", nodata, "--out", place() / "never.onnx", "--device", "gpu"},
      {"report", place() / "run", "--out", place() / "never.html", "--device", "gpu"},
      {"bench", "step", "--device", "gpu"},
      {"bench", "engine.batch_norm", "--device", "gpu"}};
  for (const auto& command : commands) {
    expect_refusal(place().run(command), {"device: expected auto, cpu, cuda or cuda:N, got gpu"});
  }
  for (const char* made : {"never", "never.onnx", "never.html"}) EXPECT_FALSE(fs::exists(place() / made));
}

TEST_F(Device, of_the_host_refuses_f16_before_data_are_read) {
  expect_refusal(
      place().run(plus(place().train_arguments(place() / "nodata", "never"), {"--device", "cpu", "--dtype", "f16"})),
      {"train.dtype: expected f32, bf16 or auto on the device cpu, got f16", "--dtype bf16"});
  EXPECT_FALSE(fs::exists(place() / "never"));
}

TEST_F(Device, that_is_not_there_is_named_in_one_line) {
  for (const auto& command :
       {plus(place().train_arguments(place() / "data", "never"), {"--device", "cuda:900"}),
        {"predict", "--checkpoint", weights(), place() / "data/images", "--device", "cuda:900"}}) {
    const Ended run = place().run(command);
    EXPECT_EQ(run.code, 1);
    EXPECT_THAT(run.err, testing::AllOf(HasSubstr("device cuda"), HasSubstr("; try --device cpu")));
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  }
  EXPECT_FALSE(fs::exists(place() / "never"));
}

TEST_F(Device, of_a_benchmark_is_in_its_result) {
  place().must_run({"bench", "engine.batch_norm", "--warmup", "0", "--steps", "1", "--device", "cpu"});
  place().must_run({"bench", "step", "--model", "resnet18", "--batch", "1", "--image", "32", "--warmup", "0", "--steps",
                    "1", "--json", place() / "step.json"});
  EXPECT_THAT(read_json(place() / "step.json").at("device").as_string(), testing::AnyOf("cpu", "cuda"));
}

}  // namespace
}  // namespace roentgen::e2e
