// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/source/source.h"
#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// Two studies of one patient and one study of another without labels, with tables as published (but fewer columns).
class Mimic : public testing::Test {
 protected:
  Mimic() {
    folder_.write("mimic-cxr-2.0.0-metadata.csv",
                  "dicom_id,subject_id,study_id,ViewPosition,Rows,Columns,StudyDate,StudyTime\n"
                  "aaa,10000032,50414267,PA,3056,2544,21800506,213014.53100000002\n"
                  "bbb,10000032,50414267,LATERAL,3056,2544,21800506,213014.53100000002\n"
                  "ccc,10000032,53189527,,3056,2544,21800626,165500.312\n"
                  "ddd,19999987,55368167,AP,2544,3056,21451109,35815.0\n");
    folder_.write("mimic-cxr-2.0.0-chexpert.csv",
                  "subject_id,study_id,Atelectasis,No Finding,Pleural Effusion,Support Devices\n"
                  "10000032,50414267,,1.0,,\n"
                  "10000032,53189527,-1.0,,1.0,0.0\n");
    folder_.write("mimic-cxr-2.0.0-split.csv",
                  "dicom_id,study_id,subject_id,split\n"
                  "aaa,50414267,10000032,train\nbbb,50414267,10000032,train\nccc,53189527,10000032,train\n"
                  "ddd,55368167,19999987,validate\n");
    for (const char* name : {"s50414267/aaa.jpg", "s50414267/bbb.jpg", "s53189527/ccc.jpg"}) {
      folder_.write(std::string("files/p10/p10000032/") + name, "");
    }
    options_.root = folder_.path();
    options_.labels = {"Atelectasis", "No Finding", "Effusion", "Support Devices"};
    options_.split.validation = ValidationFrom::None;
  }
  [[nodiscard]] std::string refusal() const {
    return message_of<DataError>([&] { static_cast<void>(load_dataset(options_)); });
  }
  static std::vector<float> labels(const Sample& sample) {
    std::vector<float> values;
    for (const float value : sample.labels) values.push_back(std::isnan(value) ? -9.0F : value);
    return values;
  }
  TestFolder folder_;
  SourceOptions options_;
};

TEST_F(Mimic, joins_its_three_tables) {
  const Dataset dataset = load_dataset(options_);
  EXPECT_EQ(dataset.source, "mimic");
  ASSERT_EQ(dataset.samples.size(), 3U);
  const Sample& first = dataset.samples[0];
  EXPECT_EQ(first.id, "p10/p10000032/s50414267/aaa.jpg");
  EXPECT_EQ(first.path, folder_.path() / "files/p10/p10000032/s50414267/aaa.jpg");
  EXPECT_EQ(first.patient, "10000032");
  EXPECT_EQ(first.view, "PA");
  EXPECT_EQ(first.split, Split::Train);
  EXPECT_THAT(labels(first), ElementsAre(0, 1, 0, -9));
  EXPECT_THAT(labels(dataset.samples[2]), ElementsAre(-9, 0, 1, 0));
  EXPECT_THAT(dataset.notes, Contains("images of studies without labels, left out: 1"));
  EXPECT_THAT(dataset.split_origin, HasSubstr("column split of mimic-cxr-2.0.0-split.csv"));
  EXPECT_EQ(dataset.csv.size(), 3U);
}

TEST_F(Mimic, reads_the_labels_of_the_other_labeller) {
  folder_.write("mimic-cxr-2.0.0-negbio.csv",
                "subject_id,study_id,Atelectasis,No Finding,Pleural Effusion,Support Devices\n"
                "10000032,50414267,1.0,,0.0,1.0\n10000032,53189527,,1.0,,\n");
  EXPECT_THAT(labels(load_dataset(options_).samples[0]), ElementsAre(0, 1, 0, -9)) << "CheXpert's by default";
  options_.csv = {"mimic-cxr-2.0.0-negbio.csv"};
  EXPECT_THAT(labels(load_dataset(options_).samples[0]), ElementsAre(1, 0, 0, 1));
}

TEST_F(Mimic, finds_images_that_were_moved_or_made_into_png) {
  std::filesystem::rename(folder_.path() / "files/p10", folder_.path() / "p10");
  std::filesystem::rename(folder_.path() / "p10/p10000032/s50414267/bbb.jpg", folder_.path() / "bbb.png");
  const Dataset dataset = load_dataset(options_);
  EXPECT_EQ(dataset.samples[0].path, folder_.path() / "p10/p10000032/s50414267/aaa.jpg");
  EXPECT_EQ(dataset.samples[1].path, folder_.path() / "bbb.png");
}

TEST_F(Mimic, finds_the_dicom_files_of_mimic_cxr) {
  const auto study = folder_.path() / "files/p10/p10000032/s50414267";
  std::filesystem::rename(study / "aaa.jpg", study / "aaa.dcm");
  const Dataset dataset = load_dataset(options_);
  EXPECT_EQ(dataset.samples[0].path, study / "aaa.dcm");
  EXPECT_EQ(dataset.samples[0].id, "p10/p10000032/s50414267/aaa.jpg") << "one name in both forms";
}

TEST_F(Mimic, draws_splits_without_a_split_table) {
  folder_.write("mimic-cxr-2.0.0-chexpert.csv",
                "subject_id,study_id,Atelectasis,No Finding,Pleural Effusion,Support Devices\n"
                "10000032,50414267,,1.0,,1.0\n10000032,53189527,-1.0,,1.0,\n19999987,55368167,1,,,\n");
  folder_.write("files/p19/p19999987/s55368167/ddd.jpg", "");
  std::filesystem::remove(folder_.path() / "mimic-cxr-2.0.0-split.csv");
  EXPECT_THAT(load_dataset(options_).split_origin, HasSubstr("test: 20% of the patients"));
}

TEST_F(Mimic, keeps_every_frontal_view) {
  options_.labels = {"Effusion"};
  options_.views = {"frontal"};
  for (const char* view : {"PA", "AP", "AP AXIAL", "AP LLD", "AP RLD", "PA LLD", "PA RLD"}) {
    folder_.write("mimic-cxr-2.0.0-metadata.csv", "dicom_id,subject_id,study_id,ViewPosition\naaa,10000032,50414267," +
                                                      std::string(view) + "\nbbb,10000032,50414267,XTABLE LATERAL\n");
    EXPECT_THAT(load_dataset(options_).notes, Contains(HasSubstr("views frontal: 1 kept, 1 of other views dropped")))
        << view;
  }
}

TEST(MimicProbe, leaves_several_tables_without_metadata_to_other_sources) {
  const TestFolder folder;
  TableFiles tables;
  EXPECT_FALSE(probe_mimic({.root = folder.path(), .csv = {"a.csv", "b.csv"}}, tables));
}

TEST_F(Mimic, refuses_two_tables_for_one_place) {
  const std::string labels = "subject_id,study_id,Atelectasis,No Finding,Pleural Effusion,Support Devices\n";
  folder_.write("mimic-cxr-2.0.0-negbio.csv", labels + "10000032,50414267,1.0,,0.0,1.0\n");
  options_.csv = {"mimic-cxr-2.0.0-chexpert.csv", "mimic-cxr-2.0.0-negbio.csv"};
  EXPECT_THAT(refusal(), HasSubstr("[data.mimic] data.csv: expected only one table of labels, got "
                                   "mimic-cxr-2.0.0-chexpert.csv and mimic-cxr-2.0.0-negbio.csv"));
  options_.csv = {"mimic-cxr-2.0.0-split.csv", "my-split.csv"};
  EXPECT_THAT(refusal(), HasSubstr("expected only one table of splits"));
  options_.csv = {"mimic-cxr-2.0.0-metadata.csv", "my-metadata.csv.gz"};
  EXPECT_THAT(refusal(), HasSubstr("expected only one table of metadata"));
}

TEST_F(Mimic, refuses_an_image_with_two_splits) {
  folder_.write("mimic-cxr-2.0.0-split.csv",
                "dicom_id,study_id,subject_id,split\naaa,50414267,10000032,train\naaa,50414267,10000032,test\n");
  EXPECT_THAT(refusal(), HasSubstr("mimic-cxr-2.0.0-split.csv line 3: expected each image once, got a second row"));
}

TEST_F(Mimic, refuses_ragged_rows) {
  folder_.write("mimic-cxr-2.0.0-metadata.csv", "dicom_id,subject_id,study_id,ViewPosition\naaa,10000032,50414267\n");
  EXPECT_THAT(refusal(), HasSubstr("mimic-cxr-2.0.0-metadata.csv line 2: expected 4 fields, got 3"));
  folder_.write("mimic-cxr-2.0.0-split.csv", "dicom_id,study_id,subject_id,split\naaa,50414267,1,train,\n");
  EXPECT_THAT(refusal(), HasSubstr("mimic-cxr-2.0.0-split.csv line 2: expected 4 fields, got 5"));
  folder_.write("mimic-cxr-2.0.0-chexpert.csv",
                "subject_id,study_id,Atelectasis,No Finding,Pleural Effusion,Support Devices\n10000032,50414267\n");
  EXPECT_THAT(refusal(), HasSubstr("mimic-cxr-2.0.0-chexpert.csv line 2: expected 6 fields, got 2"));
}

TEST_F(Mimic, refuses_two_labels_of_one_finding) {
  options_.labels = {"Pleural Effusion", "Effusion"};
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(options_)); }),
              HasSubstr("[data.labels] Effusion: expected each finding in one label only, got the same finding in "
                        "label Pleural Effusion"));
}

TEST_F(Mimic, needs_the_columns_that_join_its_tables) {
  const auto refusal_with = [&](std::string_view name, std::string_view text) {
    std::ifstream file(folder_.path() / name);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    folder_.write(name, text);
    std::string message = refusal();
    folder_.write(name, whole);
    return message;
  };
  EXPECT_THAT(refusal_with("mimic-cxr-2.0.0-chexpert.csv", "subject_id,Atelectasis\n1,1\n"),
              HasSubstr("mimic-cxr-2.0.0-chexpert.csv: expected a column \"study_id\", got only the columns"));
  EXPECT_THAT(refusal_with("mimic-cxr-2.0.0-metadata.csv", "dicom_id,subject_id\naaa,1\n"),
              HasSubstr("mimic-cxr-2.0.0-metadata.csv: expected a column \"study_id\""));
  EXPECT_THAT(refusal_with("mimic-cxr-2.0.0-split.csv", "study_id,split\n1,train\n"),
              HasSubstr("mimic-cxr-2.0.0-split.csv: expected a column \"dicom_id\""));
  EXPECT_THAT(refusal_with("mimic-cxr-2.0.0-split.csv", "dicom_id,study_id\naaa,1\n"),
              HasSubstr("mimic-cxr-2.0.0-split.csv: expected a column \"split\""));
  options_.source = "mimic";
  EXPECT_THAT(refusal_with("mimic-cxr-2.0.0-metadata.csv", "subject_id,study_id\n1,2\n"),
              HasSubstr("mimic-cxr-2.0.0-metadata.csv: expected a column \"dicom_id\""));
  std::filesystem::remove(folder_.path() / "mimic-cxr-2.0.0-chexpert.csv");
  EXPECT_THAT(refusal(), HasSubstr("...-chexpert.csv (or .csv.gz), got no table of labels"));
}

TEST_F(Mimic, refuses_what_is_not_as_published) {
  folder_.write("mimic-cxr-2.0.0-split.csv", "dicom_id,study_id,subject_id,split\naaa,50414267,10000032,often\n");
  EXPECT_THAT(refusal(),
              HasSubstr("mimic-cxr-2.0.0-split.csv line 2: expected train, validate or test, got \"often\""));
  std::filesystem::remove(folder_.path() / "mimic-cxr-2.0.0-split.csv");
  folder_.write("mimic-cxr-2.0.0-chexpert.csv",
                "subject_id,study_id,Atelectasis,No Finding,Pleural Effusion,Support Devices\n"
                "10000032,50414267,,1.0,,\n10000032,50414267,-1.0,,1.0,\n");
  EXPECT_THAT(refusal(), HasSubstr("mimic-cxr-2.0.0-chexpert.csv line 3: expected each study once"));
  folder_.write(
      "mimic-cxr-2.0.0-chexpert.csv",
      "subject_id,study_id,Atelectasis,No Finding,Pleural Effusion,Support Devices\n10000032,50414267,1,,,\n");
  folder_.write("mimic-cxr-2.0.0-metadata.csv", "dicom_id,subject_id,study_id\naaa,1,2\n");
  EXPECT_THAT(refusal(), HasSubstr("mimic-cxr-2.0.0-metadata.csv line 2"));
  folder_.write("mimic-cxr-2.0.0-metadata.csv", "dicom_id,study_id\naaa,2\n");
  EXPECT_THAT(refusal(), HasSubstr("expected a column \"subject_id\""));
  std::filesystem::remove(folder_.path() / "mimic-cxr-2.0.0-metadata.csv");
  options_.source = "mimic";
  EXPECT_THAT(refusal(), HasSubstr("got no ...-metadata.csv"));
}

}  // namespace
}  // namespace roentgen::data
