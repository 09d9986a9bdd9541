// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests external validation: a model is evaluated on data in another format, with fewer labels and other spellings of
// patients and findings. Also tests a run that is resumed by its folder alone.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kImages = 48;
constexpr std::size_t kPatients = 24;

class ExternalData : public testing::Test {
 protected:
  ExternalData() {
    for (const auto& entry : fs::recursive_directory_iterator(place_.synth("drawn", kImages) / "images")) {
      if (entry.path().extension() == ".png") images_.push_back(entry.path());
    }
    std::ranges::sort(images_);
    std::string table = "path,patient,A,B,C\n";
    for (std::size_t i = 0; i < images_.size(); ++i) {
      table += fmt::format("im/{}.png,{},{},{},{}\n", i, i / 2, i % 2, i / 2 % 2, i % 3 == 0 ? 1 : 0);
      copy(i, fmt::format("ours/im/{}.png", i));
    }
    place_.write("ours/labels.csv", table);
  }
  void copy(std::size_t image, const std::string& name) const { place_.write(name, read_all(images_[image])); }
  // Writes data in NIH's format with one of the model's findings.
  void write_theirs() const {
    std::string table = "Image Index,Finding Labels,Patient ID\n";
    for (std::size_t i = 0; i < 12; ++i) {
      table += fmt::format("{}.png,{},{}\n", i, i % 2 == 1 ? "a|Scar" : "no finding", i + 100);
      copy(i, fmt::format("theirs/{}.png", i));
    }
    place_.write("theirs/Data_Entry_2017.csv", table);
  }
  void train() const {
    place_.must_run(plus(place_.train_arguments(place_ / "ours", "run"),
                         {"--set", "data.labels=A,B,C", "--set", "data.source=csv", "--set", "train.epochs=1"}));
  }
  [[nodiscard]] std::vector<std::string> eval(const std::vector<std::string>& more) const {
    return plus({"eval", "--checkpoint", place_ / "run/checkpoints/best.safetensors", "--data", place_ / "theirs",
                 "--set", "data.split=whole", "--replicates", "0", "--threads", "1"},
                more);
  }

  Workplace place_;
  std::vector<fs::path> images_;
};

TEST_F(ExternalData, masks_and_lists_labels_that_the_data_lack) {
  train();
  write_theirs();
  const Ended run = place_.must_run(eval({"--allow-overlap", "--json", place_ / "eval.json"}));
  EXPECT_THAT(run.out, HasSubstr("labels that these data lack, left out of all figures: B, C (2 of 3)"));
  EXPECT_THAT(run.out, HasSubstr("note: findings that no label uses: Scar 6"));
  EXPECT_THAT(run.out, HasSubstr("mean over 1 of 3"));
  EXPECT_THAT(run.err, HasSubstr("data.source=csv, which these data do not fit: reading them as nih"));
  const Value json = read_json(place_ / "eval.json");
  EXPECT_EQ(json.at("absent_labels").as_array().size(), 2U);
  EXPECT_EQ(json.at("auroc").at("labels").at("A").at("n").as_integer(), 12);
  EXPECT_EQ(json.at("auroc").at("labels").at("B").at("n").as_integer(), 0);
}

TEST_F(ExternalData, is_compared_and_reported_by_the_labels_that_it_has) {
  train();
  write_theirs();
  place_.must_run(eval({"--allow-overlap", "--preds", place_ / "preds.csv"}));
  const fs::path preds = place_ / "preds.csv", theirs = place_ / "theirs";
  const std::string told = "labels that these data lack, left out of all figures: B, C (2 of 3)";
  for (const fs::path& labels : {theirs, theirs / "Data_Entry_2017.csv"}) {
    const Ended compared = place_.must_run({"compare", preds, preds, "--labels", labels, "--replicates", "0",
                                            "--threads", "1", "--json", place_ / "compare.json"});
    EXPECT_THAT(compared.out, HasSubstr(told));
    EXPECT_THAT(compared.out, HasSubstr("mean over 1 of 3"));
    EXPECT_EQ(read_json(place_ / "compare.json").at("absent_labels").as_array().size(), 2U);
    const Ended reported = place_.must_run(
        {"report", place_ / "run", "--preds", preds, "--labels", labels, "--out", place_ / "report.html"});
    EXPECT_THAT(reported.out, HasSubstr(told));
  }
}

TEST_F(ExternalData, finds_trained_patients_in_any_spelling_of_their_numbers) {
  train();
  std::string table = "path,patient,A\n", zeros = table;
  for (std::size_t i = 0; i < 2 * kPatients; ++i) {
    table += fmt::format("{}.png,{}.0,{}\n", i, i / 2, i % 2);
    zeros += fmt::format("{}.png,000{},{}\n", i, i / 2, i % 2);
    copy(i, fmt::format("theirs/{}.png", i));
  }
  place_.write("theirs/labels.csv", table);
  expect_stop(place_.run(eval({})), {"[eval.leak]", "test patients among the"});
  place_.write("theirs/labels.csv", zeros);
  EXPECT_THAT(place_.must_run(eval({"--allow-overlap"})).err, HasSubstr("but for leading zeros (as 12 and 0012)"));
}

TEST_F(ExternalData, resumes_a_run_by_its_folder_alone) {
  const Ended first = place_.run(plus(place_.train_arguments(place_ / "ours", "run"),
                                      {"--set", "data.labels=A,B,C", "--set", "train.epochs=2", "--stop-after", "1"}));
  EXPECT_EQ(first.code, 3) << first.err;
  place_.must_run({"train", "--out", place_ / "run", "--resume"});
  EXPECT_TRUE(fs::exists(place_ / "run/checkpoints/best.safetensors"));
}

}  // namespace
}  // namespace roentgen::e2e
