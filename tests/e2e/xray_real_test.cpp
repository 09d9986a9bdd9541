// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the main workflow on real X-rays: from NIH's own PNG files and csv to AUROCs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RealXray : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_directory(data_)) GTEST_SKIP() << "NO REAL DATA at " << data_ << ": NOTHING TESTED";
  }
  [[nodiscard]] std::string weights() const { return (place_ / "run/checkpoints/best.safetensors").string(); }

  Workplace place_;
  fs::path data_ = real_data() / "nih";
};

// The folder has 70 gray and 9 RGBA files of 1024x1024 px, and a csv that names 1,305 other images.
TEST_F(RealXray, original_files_train_and_evaluate) {
  const Ended train =
      place_.must_run(plus(place_.train_arguments(data_, "run"),
                           {"--set", "data.source=nih", "data.csv=labels.csv", "data.images=[\"png\"]",
                            "data.absent=skip", "preprocess.size=64", "train.epochs=2", "train.max_bad=0"}));
  EXPECT_THAT(train.out, HasSubstr("79 images"));
  const Ended eval = place_.must_run(
      {"eval", "--checkpoint", weights(), "--data", data_, "--split", "val", "--json", place_ / "eval.json"});
  EXPECT_THAT(eval.out, HasSubstr("split val: 14 images of 14 patients"));
  const Value auroc = read_json(place_ / "eval.json").at("auroc");
  EXPECT_EQ(auroc.at("labels").at("Pneumonia").at("n").as_integer(), 14);
  EXPECT_TRUE(auroc.at("labels").at("Hernia").at("auroc").is_null()) << "none of the 14 has one";
}

// A network that cannot memorise 64 images has a wrong gradient somewhere.
TEST_F(RealXray, sixty_four_images_are_memorised) {
  std::string csv = "path,patient,split,finding\n";
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(data_ / "png128")) files.push_back(entry.path());
  ASSERT_GE(files.size(), 64U);
  std::sort(files.begin(), files.end());
  fs::create_directories(place_ / "few");
  for (std::size_t i = 0; i < 64; ++i) {
    const std::string name = files[i].filename().string();
    fs::copy_file(files[i], place_ / "few" / name);
    csv += name + ",p" + std::to_string(i) + ",train," + std::to_string(i * 7 / 3 % 2) + "\n";
  }
  place_.write("few/labels.csv", csv);
  place_.must_run({"train", "--recipe", place_.write("r.toml", ""), "--data", place_ / "few", "--out", place_ / "run",
                   "--model", "resnet18", "--set", "model.width=16", "data.labels=finding", "data.validation=none",
                   "preprocess.size=64", "train.batch=16", "train.epochs=40", "optimizer.lr=2e-3"});
  place_.must_run({"eval", "--checkpoint", weights(), "--data", place_ / "few", "--split", "train", "--json",
                   place_ / "eval.json"});
  EXPECT_GT(read_json(place_ / "eval.json").at("auroc").at("mean").as_double(), 0.99);
}

}  // namespace
}  // namespace roentgen::e2e
