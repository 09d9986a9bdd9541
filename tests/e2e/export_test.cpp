// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests roentgen export: files for other programs, their model card, and refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/io_testing.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// Fixture with one short training run for all tests.
class Export : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = std::make_unique<Workplace>();
    const fs::path data = place_->synth("data", 120);
    place_->must_run(plus(place_->train_arguments(data, "run"), {"--set", "train.epochs=1"}));
    place_->must_run({"eval", "--checkpoint", checkpoint(), "--data", data, "--split", "test", "--replicates", "100",
                      "--json", in("eval.json"), "--save-points", in("points.json"), "--preds", in("preds.csv")});
  }
  static void TearDownTestSuite() { place_.reset(); }
  static std::string in(std::string_view name) { return (*place_ / name).string(); }
  static std::string checkpoint() { return in("run/checkpoints/best.safetensors"); }
  static std::vector<std::string> arguments(const std::vector<std::string>& more) {
    return plus({"export", "--checkpoint", checkpoint()}, more);
  }
  static std::unique_ptr<Workplace> place_;
};
std::unique_ptr<Workplace> Export::place_;

TEST_F(Export, writes_onnx_and_a_card_without_patients) {
  const Ended run = place_->must_run(
      arguments({"--out", in("m.onnx"), "--evaluation", in("eval.json"), "--points", in("points.json")}));
  EXPECT_THAT(run.out, HasSubstr("onnxruntime.InferenceSession(\"m.onnx\")"));
  const std::string model = read_all(*place_ / "m.onnx");
  for (const char* text : {"Conv", "probabilities", "not a medical device", "Cardiomegaly"}) {
    EXPECT_THAT(model, HasSubstr(text));
  }
  const std::string card = read_all(*place_ / "m.onnx.md");
  EXPECT_THAT(card, HasSubstr("Not a medical device"));
  EXPECT_THAT(card, HasSubstr("Mean AUROC"));
  EXPECT_THAT(card, Not(HasSubstr(in(""))));
}

// A file name that would end a Python string, and one with terminal colour codes.
TEST_F(Export, prints_python_that_a_file_name_cannot_change) {
  const Ended run = place_->must_run(arguments({"--out", in("a\"); import os; os.system(\"id\") #\x1b[31m.onnx")}));
  EXPECT_THAT(run.out, HasSubstr("InferenceSession(\"a\\\"); import os; os.system(\\\"id\\\") #\\x1b[31m.onnx\")\n"));
  EXPECT_EQ(run.out.find('\x1b'), std::string::npos);
}

TEST_F(Export, safetensors_predict_as_the_checkpoint_does) {
  const Ended run = place_->must_run(arguments({"--out", in("copy.safetensors")}));
  EXPECT_THAT(run.out, HasSubstr("copy.safetensors.md"));
  EXPECT_THAT(read_all(*place_ / "copy.safetensors"), HasSubstr("\"training_patients\":\"[]\""));
  const auto predict = [&](const std::string& file, const std::string& csv) {
    place_->must_run({"predict", "--checkpoint", file, in("data/images"), "--preds", in(csv)});
    return read_all(*place_ / csv);
  };
  EXPECT_EQ(predict(in("copy.safetensors"), "copy.csv"), predict(checkpoint(), "own.csv"));
  place_->must_run(arguments({"--out", in("three.safetensors"), "--channels", "3", "--keep-patients"}));
  EXPECT_THAT(read_all(*place_ / "three.safetensors"), Not(HasSubstr("\"training_patients\":\"[]\"")));
  const Ended three = place_->must_run({"predict", "--checkpoint", in("three.safetensors"), in("data/images")});
  EXPECT_THAT(three.out, HasSubstr("RGB"));
}

TEST_F(Export, card_takes_figures_of_these_weights_alone) {
  place_->must_run(arguments({"--out", in("same.safetensors")}));
  place_->must_run({"eval", "--checkpoint", in("same.safetensors"), "--data", in("data"), "--replicates", "0",
                    "--allow-overlap", "--json", in("same.json")});
  place_->must_run(arguments({"--out", in("card.onnx"), "--evaluation", in("same.json")}));
  place_->must_run(
      plus(place_->train_arguments(in("data"), "other"), {"--set", "train.epochs=1", "--set", "train.seed=1"}));
  place_->must_run({"eval", "--checkpoint", in("other/checkpoints/best.safetensors"), "--data", in("data"),
                    "--replicates", "0", "--json", in("other.json"), "--save-points", in("other_points.json")});
  expect_refusal(place_->run(arguments({"--out", in("wrong.onnx"), "--evaluation", in("other.json")})),
                 {"an evaluation of", "got an evaluation of other weights"});
  expect_refusal(place_->run(arguments({"--out", in("wrong.onnx"), "--points", in("other_points.json")})),
                 {"thresholds for these weights", "got thresholds for other weights"});
  expect_refusal(
      place_->run({"eval", "--checkpoint", checkpoint(), "--data", in("data"), "--points", in("other_points.json")}),
      {"thresholds for these weights", "got thresholds for other weights"});
  EXPECT_FALSE(fs::exists(*place_ / "wrong.onnx"));
  EXPECT_FALSE(fs::exists(*place_ / "wrong.onnx.md"));
}

TEST_F(Export, refuses_in_one_line_and_leaves_nothing) {
  const auto refused = [&](const std::vector<std::string>& more, const std::string& words) {
    expect_refusal(place_->run(arguments(more)), {words});
  };
  refused({"--out", in("m.pt")}, "expected onnx or safetensors, got pt");
  refused({"--out", in("no/m.onnx")}, "no");
  refused({"--out", in("m2.onnx"), "--channels", "3"}, "expected a safetensors file");
  refused({"--out", in("m2.safetensors"), "--fold-batch-norm"}, "expected an ONNX file");
  refused({"--out", in("m2.safetensors"), "--channels", "2"}, "expected 3");
  io::testing::put_file(in("study.json"), [] {
    std::string points = read_all(*place_ / "points.json");
    const std::string unit = "\"unit\": \"image\"";
    return points.replace(points.find(unit), unit.size(), "\"unit\": \"study, max\"");
  }());
  refused({"--out", in("m2.onnx"), "--points", in("study.json")}, "thresholds for one score per image");
  refused({"--out", in("m2.onnx"), "--opset", "12"}, "13");
  refused({"--out", in("m2.onnx"), "--evaluation", in("points.json")}, "auroc.labels");
  refused({"--out", checkpoint()}, "best.safetensors");
  refused({"--out", in("run/data.onnx"), "--evaluation", in("none.json")}, "none.json");
  refused({"--out", in("data/m.onnx")}, "outside the data folder");
  refused({"--out", in("run/recipe.toml"), "--to", "onnx"}, "recipe.toml, which belongs to a run");
  refused({"--out", in("run/checkpoints/m.onnx")}, "checkpoints, which belongs to a run");
  fs::copy_file(in("eval.json"), in("m2.onnx.md"));
  refused({"--out", in("m2.onnx"), "--evaluation", in("m2.onnx.md")}, "card of --out");
  EXPECT_TRUE(fs::remove(in("m2.onnx.md")));
  for (const char* name : {"m.pt", "m2.onnx", "m2.safetensors", "m2.onnx.md", "m2.safetensors.md", "run/data.onnx"}) {
    EXPECT_FALSE(fs::exists(*place_ / name)) << name;
  }
}

}  // namespace
}  // namespace roentgen::e2e
