// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that one preprocessing is used from training to metrics, and that mixing two is refused. Labels are matched by
// their names.
#include <gtest/gtest.h>

#include "io/json.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;

// Fixture with two short runs on one data folder that differ in preprocessing.
class MixedInput : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = std::make_unique<Workplace>();
    const fs::path data = place_->synth("data", 160);
    place_->must_run(plus(place_->train_arguments(data, "run"), {"--set", "train.epochs=1"}));
    place_->must_run(plus(place_->train_arguments(data, "crop"),
                          {"--set", "train.epochs=1", "preprocess.fit=crop", "preprocess.mean=0.4"}));
    place_->must_run(plus(eval("run"), {"--save-points", in("points.json")}));
  }
  static void TearDownTestSuite() { place_.reset(); }
  static std::string in(std::string_view name) { return (*place_ / name).string(); }
  static std::string checkpoint(std::string_view run) { return in(std::string(run) + "/checkpoints/best.safetensors"); }
  static std::vector<std::string> eval(std::string_view run) {
    return {"eval", "--checkpoint", checkpoint(run), "--data", in("data"), "--replicates", "0"};
  }
  static std::unique_ptr<Workplace> place_;
};
std::unique_ptr<Workplace> MixedInput::place_;

TEST_F(MixedInput, of_an_evaluation_is_the_checkpoints_and_no_option_changes_it) {
  for (const char* key : {"preprocess.size=64", "preprocess.fit=crop", "preprocess.mean=0.4", "model.name=resnet18",
                          "loss.name=softmax", "data.labels=[\"Mass\"]"}) {
    expect_refusal(place_->run(plus(eval("run"), {"--set", key})),
                   {std::string("--set ") + key + ": expected a recipe key of [data] other than data.labels"});
  }
}

TEST_F(MixedInput, of_points_and_a_checkpoint_is_refused) {
  const std::vector<std::string> points{"--points", in("points.json")};
  place_->must_run(plus(eval("run"), points));
  const std::string image = fs::directory_iterator(*place_ / "data/images")->path().string();
  const auto predict = [&](std::string_view run) {
    return plus({"predict", "--checkpoint", checkpoint(run), image}, points);
  };
  place_->must_run(predict("run"));
  const std::vector<std::string> other{"points.json: expected thresholds chosen with the input \"32x32 gray, crop",
                                       "(v - 0.4)", "got \"32x32 gray, squash"};
  expect_refusal(place_->run(predict("crop")), other);
  expect_stop(place_->run(plus(eval("crop"), points)), other);
  expect_refusal(place_->run(plus({"export", "--checkpoint", checkpoint("crop"), "--out", in("model.onnx")}, points)),
                 other);
  expect_stop(place_->run(plus(eval("run"), plus(points, {"--tta", "flip"}))), {"views flip", "views none"});
  // A prediction file says nothing about its preprocessing, so only its labels are checked.
  place_->must_run(plus(eval("run"), {"--preds", in("preds.csv")}));
  place_->must_run(plus(
      {"eval", "--predictions", in("preds.csv"), "--labels", in("data/Data_Entry_2017_v2020.csv"), "--replicates", "0"},
      points));
}

TEST_F(MixedInput, of_a_run_that_goes_on_is_refused) {
  expect_refusal(place_->run(plus(place_->train_arguments(*place_ / "data", "run"),
                                  {"--resume", "--set", "train.epochs=2", "preprocess.fit=crop"})),
                 {"preprocess.fit"});
}

TEST_F(MixedInput, of_initial_weights_is_told_by_their_own_file) {
  expect_refusal(place_->run(plus(place_->train_arguments(*place_ / "data", "new"),
                                  {"--init", checkpoint("crop"), "--init-preset", "unit"})),
                 {"as stored in the file"});
}

TEST_F(MixedInput, of_labels_by_name_is_refused) {
  const std::string labels = in("data/Data_Entry_2017_v2020.csv");
  place_->must_run(plus(eval("run"), {"--preds", in("test.csv")}));
  place_->must_run(plus(eval("run"), {"--split", "val", "--preds", in("val.csv")}));
  // The stored thresholds lack a label.
  Value points = read_json(*place_ / "points.json");
  Value::Table fewer;
  for (const auto& [label, threshold] : points.at("thresholds").as_table()) {
    if (label != "Mass") fewer.emplace_back(label, threshold);
  }
  points.set("thresholds", Value(std::move(fewer)));
  const std::string few = place_->write("few.json", io::to_json(points)).string();
  expect_stop(place_->run(plus(eval("run"), {"--points", few})), {"Mass: expected a threshold for this label"});
  expect_refusal(place_->run({"eval", "--predictions", in("test.csv"), "--labels", labels, "--points", few}),
                 {"Mass: expected a threshold for this label"});
  // Validation predictions whose columns have another order, or other labels.
  std::string swapped = read_all(*place_ / "val.csv");
  swapped.replace(swapped.find("prob_Mass"), 9, "prob_Swap");
  swapped.replace(swapped.find("prob_Nodule"), 11, "prob_Mass");
  swapped.replace(swapped.find("prob_Swap"), 9, "prob_Nodule");
  expect_refusal(place_->run({"eval", "--predictions", in("test.csv"), "--labels", labels, "--validation",
                              place_->write("swapped.csv", swapped).string()}),
                 {"the same labels in the same order as --predictions, got other labels or another order"});
}

TEST_F(MixedInput, of_a_validation_patient_in_the_test_is_refused) {
  // Two images of one patient, one among the validation and one among the test predictions.
  const std::string labels =
      place_->write("two.csv", "path,patient,Mass\na.png,p,1\nb.png,p,0\nc.png,q,1\nd.png,r,0\n").string();
  const std::string test = place_->write("t.csv", "Image Index,prob_Mass\na.png,0.5\nd.png,0.2\n").string();
  const std::string validation = place_->write("v.csv", "Image Index,prob_Mass\nb.png,0.5\nc.png,0.2\n").string();
  const std::vector<std::string> arguments{"eval", "--predictions", test,      "--labels",
                                           labels, "--validation",  validation};
  expect_refusal(place_->run(arguments), {"validation: expected no patient of the test set, got 1 of 2 patients"});
  EXPECT_NE(place_->must_run(plus(arguments, {"--allow-overlap"})).err.find("no patient of the test"),
            std::string::npos);
}

}  // namespace
}  // namespace roentgen::e2e
