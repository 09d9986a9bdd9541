// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kTable = "PADCHEST_chest_x_ray_images_labels_160K_01.02.19.csv";
constexpr std::string_view kHeader =
    ",ImageID,ImageDir,StudyDate_DICOM,StudyID,PatientID,PatientBirth,PatientSex_DICOM,ViewPosition_DICOM,Projection,"
    "Report,Labels,Localizations\n";

class Padchest : public testing::Test {
 protected:
  Padchest() {
    write(
        "0,1_a.png,0,20140915,s1,839860488694292331637988235681460987,1930.0,F,POSTEROANTERIOR,PA,\"sin "
        "cambios, .\",\"['pulmonary fibrosis', ' pleural effusion']\",x\n"
        "1,1_b.png,0,20140915,s1,839860488694292331637988235681460987,1930.0,F,LATERAL,L,,['normal'],x\n"
        "2,2_c.png,14,20140101,s2,2,,M,AP,AP_horizontal,,\"[\"\"hiatal hernia\"\", 'unchanged']\",x\n"
        "3,3_d.png,14,20140101,s3,3,1950,M,AP,,,,x\n");
    for (const char* name : {"0/1_a.png", "0/1_b.png", "2_c.png", "images/3_d.png"}) folder_.write(name, "");
    options_.root = folder_.path();
    options_.labels = {"Effusion", "Fibrosis", "Hernia", "No Finding", "unchanged"};
    options_.split.mode = SplitMode::Whole;
  }
  void write(std::string_view rows) const { folder_.write(kTable, std::string(kHeader) + std::string(rows)); }
  /// Labels of an image whose label list is `list`.
  [[nodiscard]] std::vector<float> labels_of(std::string_view list) const {
    write("0,1_a.png,0,20140915,s1,1,1930,F,PA,PA,,\"" + std::string(list) +
          "\",x\n1,1_b.png,0,20140915,s2,2,1930,F,PA,PA,,\"['normal', 'unchanged']\",x\n");
    const Dataset dataset = load_dataset(options_);
    EXPECT_THAT(labels(dataset.samples[1]), testing::Each(testing::AnyOf(0.0F, 1.0F))) << "normal, as last time";
    return labels(dataset.samples[0]);
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

TEST_F(Padchest, is_detected_and_read_whole) {
  const Dataset dataset = load_dataset(options_);
  EXPECT_EQ(dataset.source, "padchest");
  ASSERT_EQ(dataset.samples.size(), 4U);
  EXPECT_THAT(labels(dataset.samples[0]), ElementsAre(1, 1, 0, 0, 0));
  EXPECT_THAT(labels(dataset.samples[1]), ElementsAre(0, 0, 0, 1, 0));
  EXPECT_THAT(labels(dataset.samples[2]), ElementsAre(-9, -9, 1, 0, 1)) << "the others are as they were last time";
  EXPECT_THAT(labels(dataset.samples[3]), ElementsAre(-9, -9, -9, -9, -9));
  EXPECT_THAT(dataset.notes, Contains("images without labels, unknown or labelled by data.blank: 1"));
  EXPECT_EQ(dataset.samples[0].patient, "839860488694292331637988235681460987");
  EXPECT_EQ(dataset.samples[0].study, dataset.samples[0].patient + "/s1");
  EXPECT_EQ(dataset.samples[3].study, "3/s3");
  EXPECT_EQ(dataset.samples[0].age_years, 84.0F);
  EXPECT_TRUE(std::isnan(dataset.samples[2].age_years));
  EXPECT_EQ(dataset.samples[0].view, "PA");
  EXPECT_EQ(dataset.samples[3].view, "AP") << "the header's, where there is no projection";
}

TEST_F(Padchest, reads_labels_in_any_spelling_and_counts_those_that_no_label_asks_for) {
  EXPECT_THAT(labels_of("['Pulmonary_Fibrosis', 'PleuralEffusion', 'pleural efusion']"), ElementsAre(1, 1, 0, 0, 0));
  EXPECT_THAT(load_dataset(options_).notes, Contains("findings that no label uses: pleural efusion 1"));
  EXPECT_THAT(labels_of("['Exclude']"), ElementsAre(-9, -9, -9, -9, 0));
}

TEST_F(Padchest, finds_images_by_folder_or_flat) {
  const Dataset dataset = load_dataset(options_);
  EXPECT_EQ(dataset.samples[0].path, folder_.path() / "0/1_a.png");
  EXPECT_EQ(dataset.samples[2].path, folder_.path() / "2_c.png");
  EXPECT_EQ(dataset.samples[3].path, folder_.path() / "images/3_d.png");
}

TEST_F(Padchest, has_the_14_findings_unless_told_otherwise) {
  options_.labels.clear();
  const Dataset dataset = load_dataset(options_);
  EXPECT_EQ(dataset.label_names.size(), 14U);
  EXPECT_EQ(dataset.label_names[2], "Effusion");
  EXPECT_EQ(dataset.samples[0].labels[2], 1.0F);
}

TEST_F(Padchest, reads_narrower_labels_as_the_finding) {
  options_.labels = {"Atelectasis", "Nodule", "Pleural_Thickening", "Effusion"};
  EXPECT_THAT(labels_of("['laminar atelectasis']"), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(labels_of("['multiple nodules']"), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(labels_of("['apical pleural thickening', 'loculated pleural effusion']"), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(labels_of("['pericardial effusion']"), ElementsAre(0, 0, 0, 0));
}

TEST_F(Padchest, leaves_a_finding_open_where_a_wider_label_is_named) {
  options_.labels = {"Atelectasis", "Mass", "Nodule"};
  EXPECT_THAT(labels_of("['volume loss', 'pseudonodule']"), ElementsAre(-9, 0, -9));
  EXPECT_THAT(labels_of("['mass']"), ElementsAre(0, -9, 0));
  EXPECT_THAT(labels_of("['mass', 'pulmonary mass']"), ElementsAre(0, 1, 0));
  options_.policy.uncertain = Uncertain::One;
  EXPECT_THAT(labels_of("['mass']"), ElementsAre(0, 1, 0)) << "as uncertain ones are";
}

TEST_F(Padchest, takes_a_list_that_tells_no_finding_as_none) {
  options_.labels = {"Effusion", "Cardiomegaly", "No Finding"};
  for (const char* list : {"['exclude']", "['unchanged']", "['suboptimal study']", "['suboptimal study', 'unchanged']",
                           "[]", "['']", "nan"}) {
    EXPECT_THAT(labels_of(list), ElementsAre(-9, -9, -9)) << list;
    EXPECT_THAT(load_dataset(options_).notes, Contains("images without labels, unknown or labelled by data.blank: 1"));
  }
  options_.policy.blank = Blank::Negative;
  EXPECT_THAT(labels_of("['unchanged']"), ElementsAre(0, 0, 0)) << "as blanks are";
}

TEST_F(Padchest, leaves_open_what_a_list_does_not_name_beside_unchanged) {
  options_.labels = {"Effusion", "Cardiomegaly", "No Finding", "unchanged"};
  for (const char* list : {"['cardiomegaly', 'unchanged']", "['unchanged', 'sternotomy', 'cardiomegaly']"}) {
    EXPECT_THAT(labels_of(list), ElementsAre(-9, 1, 0, 1)) << list;
  }
  EXPECT_THAT(labels_of("['suboptimal study', 'cardiomegaly']"), ElementsAre(-9, 1, 0, 0));
  EXPECT_THAT(load_dataset(options_).notes,
              Contains("images with a label (unchanged, suboptimal study, exclude) that leaves the others unknown: 1"));
}

TEST_F(Padchest, refuses_two_labels_of_one_finding) {
  options_.labels = {"Effusion", "pleural effusion"};
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(options_)); }),
              HasSubstr("[data.labels] pleural effusion: expected each finding in one label only, got the same finding "
                        "in label Effusion"));
}

TEST_F(Padchest, by_name_needs_its_table_and_columns) {
  options_.source = "padchest";
  folder_.write("mine.csv", "ImageID,Labels\n1_a.png,['normal']\n");
  options_.csv = {"mine.csv"};
  EXPECT_THAT(
      refusal(),
      HasSubstr("mine.csv: expected columns ImageID, ImageDir and Labels, got only the columns ImageID, Labels"));
  const TestFolder empty;
  options_.root = empty.path();
  options_.csv = {};
  EXPECT_THAT(refusal(), HasSubstr("expected a table PADCHEST...csv, got no such table"));
}

TEST_F(Padchest, finds_a_gzipped_table_behind_a_plain_one) {
  const std::string packed = std::string(kTable) + ".gz";
  folder_.write(packed, gzipped(std::string(kHeader) + "0,1_a.png,0,20140915,s1,1,1930,F,PA,PA,,['normal'],x\n"));
  EXPECT_EQ(load_dataset(options_).samples.size(), 4U);
  std::filesystem::remove(folder_.path() / kTable);
  options_.labels = {"No Finding"};
  EXPECT_EQ(load_dataset(options_).samples.size(), 1U);
}

TEST_F(Padchest, keeps_frontal_views) {
  options_.views = {"frontal"};
  EXPECT_THAT(load_dataset(options_).notes, Contains(HasSubstr("views frontal: 3 kept, 1 of other views dropped")));
}

TEST_F(Padchest, refuses_what_is_not_as_published) {
  options_.labels = {"Effussion"};
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(options_)); }),
              HasSubstr("[data.labels] Effussion: expected a label that occurs in the table"));
  options_.labels = {"Effusion"};
  for (const char* list : {"pleural effusion", "\"['a'\"", "\"['a' 'b']\"", "\"['a',]\"", "['a", "[a]"}) {
    write(std::string("0,1_a.png,0,20140915,s1,1,1930,F,PA,PA,,") + list + ",x\n");
    EXPECT_THAT(refusal(), HasSubstr("line 2: expected Labels written as ['a', 'b'], got")) << list;
  }
  write("0,1_a.png,0\n");
  EXPECT_THAT(refusal(), HasSubstr("line 2: expected 13 fields, got 3"));
  // The quotes of the list were lost, so every later field is in the wrong column.
  write("0,1_a.png,0,20140915,s1,1,1930,F,PA,PA,,['normal', 'x', 'y'],x\n");
  EXPECT_THAT(refusal(), HasSubstr("line 2: expected 13 fields, got 15"));
  write("0,,0,20140915,s1,1,1930,F,PA,PA,,['normal'],x\n");
  EXPECT_THAT(refusal(), HasSubstr("line 2: expected an ImageID, got an empty field"));
  write("0,9_z.png,0,20140915,s1,1,1930,F,PA,PA,,['normal'],x\n0,1_a.png,0,20140915,s1,1,1930,F,PA,PA,,['normal'],x\n");
  EXPECT_THAT(refusal(), HasSubstr("1 of 2 missing (9_z.png)"));
  folder_.write("PADCHEST_b.csv", kHeader);
  EXPECT_THAT(refusal(), HasSubstr("expected only one table PADCHEST...csv, got 2"));
}

}  // namespace
}  // namespace roentgen::data
