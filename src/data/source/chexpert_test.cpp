// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "core/error.h"
#include "data/source/chexpert_labels.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kHeader =
    "Path,Sex,Age,Frontal/Lateral,AP/PA,No Finding,Enlarged Cardiomediastinum,Cardiomegaly,Lung Opacity,Lung "
    "Lesion,Edema,Consolidation,Pneumonia,Atelectasis,Pneumothorax,Pleural Effusion,Pleural Other,Fracture,Support "
    "Devices\n";
constexpr float kUnknown = -9.0F;

/// A data set as published: two training patients, one of them with a lateral view, and one validation patient.
class Chexpert : public testing::Test {
 protected:
  Chexpert() {
    folder_.write("train.csv",
                  std::string(kHeader) +
                      "CheXpert-v1.0-small/train/patient00001/study1/view1_frontal.jpg,Female,68,Frontal,AP,"
                      "1.0,,,,,,,,,0.0,,,,1.0\n"
                      "CheXpert-v1.0-small/train/patient00002/study2/view1_frontal.jpg,Male,87,Frontal,PA,"
                      ",,-1.0,1.0,,-1.0,-1.0,,-1.0,,-1.0,,1.0,\n"
                      "CheXpert-v1.0-small/train/patient00002/study2/view2_lateral.jpg,Male,87,Lateral,,"
                      ",,-1.0,1.0,,-1.0,-1.0,,-1.0,,-1.0,,1.0,\n");
    folder_.write("valid.csv",
                  std::string(kHeader) +
                      "CheXpert-v1.0-small/valid/patient64541/study1/view1_frontal.jpg,Unknown,0,Frontal,LL,"
                      "0.0,0.0,1.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0\n");
    for (const char* name :
         {"train/patient00001/study1/view1_frontal.jpg", "train/patient00002/study2/view1_frontal.jpg",
          "train/patient00002/study2/view2_lateral.jpg", "valid/patient64541/study1/view1_frontal.jpg"}) {
      folder_.write(name, "");
    }
    options_.root = folder_.path();
  }
  [[nodiscard]] std::string refusal() const {
    return message_of<DataError>([&] { static_cast<void>(load_dataset(options_)); });
  }
  static std::vector<float> labels(const Sample& sample) {
    std::vector<float> values;
    for (const float value : sample.labels) values.push_back(std::isnan(value) ? kUnknown : value);
    return values;
  }
  TestFolder folder_;
  SourceOptions options_;
};

TEST_F(Chexpert, is_detected_and_read_whole) {
  const Dataset dataset = load_dataset(options_);
  EXPECT_EQ(dataset.source, "chexpert");
  EXPECT_THAT(dataset.label_names, testing::ElementsAreArray(kChexpertFindings));
  ASSERT_EQ(dataset.samples.size(), 4U);
  const Sample& first = dataset.samples[0];
  EXPECT_EQ(first.id, "CheXpert-v1.0-small/train/patient00001/study1/view1_frontal.jpg");
  EXPECT_EQ(first.path, folder_.path() / "train/patient00001/study1/view1_frontal.jpg");
  EXPECT_EQ(first.patient, "00001");
  EXPECT_EQ(first.view, "AP");
  EXPECT_EQ(first.sex, "F");
  EXPECT_EQ(first.age_years, 68.0F);
  EXPECT_EQ(first.split, Split::Train);
  EXPECT_EQ(dataset.samples[2].view, "Lateral");
  EXPECT_EQ(dataset.samples[3].view, "LL");
  EXPECT_EQ(dataset.samples[3].sex, "");
  EXPECT_EQ(dataset.samples[3].split, Split::Val);
  EXPECT_EQ(dataset.split_origin, "names of the tables");
}

TEST_F(Chexpert, leaves_unmentioned_and_uncertain_findings_unknown) {
  const Dataset dataset = load_dataset(options_);
  // "No Finding" means that no finding is present. It says nothing about devices, which have a separate label.
  EXPECT_THAT(labels(dataset.samples[0]), ElementsAre(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1));
  constexpr float U = kUnknown;
  EXPECT_THAT(labels(dataset.samples[1]), ElementsAre(0, U, U, 1, U, U, U, U, U, U, U, U, 1, U));
}

TEST_F(Chexpert, reads_blanks_and_uncertain_ones_as_the_policies_say) {
  options_.policy = {.blank = Blank::Negative, .uncertain = Uncertain::Zero};
  options_.label_policies = {{"Edema", {.blank = Blank::Negative, .uncertain = Uncertain::One}}};
  const Dataset dataset = load_dataset(options_);
  EXPECT_THAT(labels(dataset.samples[1]), ElementsAre(0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0));
}

TEST_F(Chexpert, understands_other_data_sets_names) {
  options_.labels = {"Effusion", "Atelectasis"};
  const Dataset dataset = load_dataset(options_);
  EXPECT_THAT(dataset.label_names, ElementsAre("Effusion", "Atelectasis"));
  EXPECT_THAT(labels(dataset.samples[3]), ElementsAre(1, 0));
  options_.labels = {"Hernia"};
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(options_)); }),
              AllOf(HasSubstr("[data.labels] Hernia: expected the name of a label column of train.csv"),
                    HasSubstr("Fracture")));
}

TEST_F(Chexpert, keeps_frontal_views) {
  options_.views = {"frontal"};
  EXPECT_THAT(load_dataset(options_).notes,
              Contains(HasSubstr("views frontal: 2 kept, 2 of other views dropped, 0 of unknown view kept")));
}

TEST_F(Chexpert, finds_images_in_the_parts_the_full_set_comes_in) {
  std::filesystem::create_directories(folder_.path() / "CheXpert-v1.0 batch 2 (train 1)");
  std::filesystem::rename(folder_.path() / "train/patient00002",
                          folder_.path() / "CheXpert-v1.0 batch 2 (train 1)/patient00002");
  EXPECT_EQ(load_dataset(options_).samples[1].path,
            folder_.path() / "CheXpert-v1.0 batch 2 (train 1)/patient00002/study2/view1_frontal.jpg");
}

// Batch 1 contains the tables and "valid"; the other batches contain training patients.
TEST_F(Chexpert, reads_the_full_set_as_it_is_handed_out) {
  const auto& root = folder_.path();
  const auto first = root / "CheXpert-v1.0 batch 1 (validate & csv)";
  std::filesystem::create_directories(first);
  for (const char* name : {"train.csv", "valid.csv", "valid"}) std::filesystem::rename(root / name, first / name);
  for (const auto& [patient, part] : {std::pair{"patient00001", "CheXpert-v1.0 batch 2 (train 1)"},
                                      {"patient00002", "CheXpert-v1.0 batch 3 (train 2)"}}) {
    std::filesystem::create_directories(root / part);
    std::filesystem::rename(root / "train" / patient, root / part / patient);
  }
  std::filesystem::remove(root / "train");
  const Dataset dataset = load_dataset(options_);
  EXPECT_EQ(dataset.source, "chexpert");
  ASSERT_EQ(dataset.samples.size(), 4U);
  EXPECT_EQ(dataset.samples[0].path, root / "CheXpert-v1.0 batch 2 (train 1)/patient00001/study1/view1_frontal.jpg");
  EXPECT_EQ(dataset.samples[1].path, root / "CheXpert-v1.0 batch 3 (train 2)/patient00002/study2/view1_frontal.jpg");
  EXPECT_EQ(dataset.samples[3].path, first / "valid/patient64541/study1/view1_frontal.jpg");
  EXPECT_EQ(dataset.samples[3].split, Split::Val);
}

TEST_F(Chexpert, reads_tables_one_folder_down_of_one_copy_only) {
  const auto& root = folder_.path();
  std::filesystem::create_directories(root / "CheXpert-v1.0-small");
  for (const char* name : {"train.csv", "valid.csv", "train", "valid"}) {
    std::filesystem::rename(root / name, root / "CheXpert-v1.0-small" / name);
  }
  EXPECT_EQ(load_dataset(options_).samples[0].path,
            root / "CheXpert-v1.0-small/train/patient00001/study1/view1_frontal.jpg");
  folder_.write("CheXpert-v1.0/valid.csv", std::string(kHeader));
  EXPECT_THAT(
      refusal(),
      HasSubstr(
          "expected CheXpert tables in only one of its folders, got tables in CheXpert-v1.0 and CheXpert-v1.0-small"));
}

TEST_F(Chexpert, finds_gzipped_tables) {
  folder_.write("valid.csv.gz", gzipped(std::string(kHeader) +
                                        "CheXpert-v1.0-small/valid/patient64541/study1/view1_frontal.jpg,Unknown,0,"
                                        "Frontal,LL,0.0,0.0,1.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0\n"));
  std::filesystem::remove(folder_.path() / "valid.csv");
  const Dataset dataset = load_dataset(options_);
  ASSERT_EQ(dataset.samples.size(), 4U);
  EXPECT_EQ(dataset.samples[3].split, Split::Val);
}

TEST_F(Chexpert, refuses_tables_with_and_without_a_split_in_their_names) {
  folder_.write("extra.csv", std::string(kHeader) +
                                 "CheXpert-v1.0-small/train/patient00003/study1/view1_frontal.jpg,Female,68,Frontal,AP,"
                                 "1.0,,,,,,,,,0.0,,,,1.0\n");
  folder_.write("train/patient00003/study1/view1_frontal.jpg", "");
  options_.csv = {"train.csv", "valid.csv", "extra.csv"};
  EXPECT_THAT(
      refusal(),
      AllOf(HasSubstr("expected either all tables or no table named after a split (train..., valid..., test...)"),
            HasSubstr("got extra.csv, not named after a split, and tables that are"), HasSubstr("data.split=random")));
  options_.split.mode = SplitMode::Random;
  EXPECT_EQ(load_dataset(options_).samples.size(), 5U);
  options_.split.mode = SplitMode::Auto;
  options_.split.test_list =
      folder_.write("list.txt", "CheXpert-v1.0-small/valid/patient64541/study1/view1_frontal.jpg\n");
  options_.split.validation = ValidationFrom::None;
  EXPECT_EQ(load_dataset(options_).summary(Split::Test).images, 1);
}

TEST_F(Chexpert, refuses_two_labels_of_one_finding) {
  options_.labels = {"Effusion", "Edema", "Pleural Effusion"};
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(options_)); }),
              HasSubstr("[data.labels] Pleural Effusion: expected each finding in one label only, got the same finding "
                        "in label Effusion"));
}

TEST_F(Chexpert, refuses_a_label_that_several_columns_could_be) {
  folder_.write("both.csv",
                "Path,Sex,Age,Frontal/Lateral,AP/PA,edema,EDEMA\n"
                "CheXpert-v1.0-small/train/patient00001/study1/view1_frontal.jpg,F,68,Frontal,AP,1,0\n");
  options_.csv = {"both.csv"};
  options_.labels = {"Edema"};
  options_.unknown_labels = UnknownLabels::Mask;
  EXPECT_THAT(
      message_of<ConfigError>([&] { static_cast<void>(load_dataset(options_)); }),
      HasSubstr("[data.labels] Edema: expected a single column for this finding in both.csv, got edema, EDEMA; try"));
}

TEST_F(Chexpert, draws_splits_for_tables_of_other_names) {
  std::filesystem::rename(folder_.path() / "train.csv", folder_.path() / "mine.csv");
  std::filesystem::remove(folder_.path() / "valid.csv");
  options_.csv = {"mine.csv"};
  options_.split.validation = ValidationFrom::None;
  EXPECT_THAT(load_dataset(options_).split_origin, HasSubstr("test: 20% of the patients"));
}

TEST_F(Chexpert, refuses_what_is_not_as_published) {
  std::filesystem::remove(folder_.path() / "train/patient00001/study1/view1_frontal.jpg");
  EXPECT_THAT(refusal(), HasSubstr("1 of 4 missing"));
  options_.csv = {"train.csv"};
  folder_.write("train.csv", std::string(kHeader) + "train/patient00001/study1/view1_frontal.jpg,F,68,Frontal,AP,1\n");
  EXPECT_THAT(refusal(), HasSubstr("train.csv line 2: expected 19 fields, got 6"));
  folder_.write("train.csv", std::string(kHeader) + "train/p1/view1.jpg,F,68,Frontal,AP,1,,,,,,,,,,,,,\n");
  EXPECT_THAT(refusal(), HasSubstr("train.csv line 2: expected a path with a folder patient<number>"));
  folder_.write("train.csv",
                std::string(kHeader) +
                    "CheXpert-v1.0-small/train/patient00002/study2/view1_frontal.jpg,F,68,Frontal,AP,2.0,,,,,,"
                    ",,,,,,,\n");
  EXPECT_THAT(refusal(), HasSubstr("expected 1, 0, -1 or an empty field for No Finding, got \"2.0\""));
}

TEST_F(Chexpert, by_name_needs_paths_and_its_tables) {
  options_.source = "chexpert";
  options_.csv = {folder_.write("train_other.csv", "Image,Edema\na,1\n")};
  EXPECT_THAT(refusal(), HasSubstr("train_other.csv: expected a column \"Path\", got only the columns Image, Edema"));
  options_.csv = {};
  const TestFolder empty;
  options_.root = empty.path();
  EXPECT_THAT(refusal(), HasSubstr("expected train.csv, valid.csv or test.csv, got none"));
}

}  // namespace
}  // namespace roentgen::data
