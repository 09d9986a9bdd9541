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
  EXPECT_THAT(labels(dataset.samples[2]), ElementsAre(0, 0, 1, 0, 1));
  EXPECT_THAT(labels(dataset.samples[3]), ElementsAre(-9, -9, -9, -9, -9));
  EXPECT_THAT(dataset.notes, Contains("images without labels, unknown or as data.blank says: 1"));
  EXPECT_EQ(dataset.samples[0].patient, "839860488694292331637988235681460987");
  EXPECT_EQ(dataset.samples[0].age_years, 84.0F);
  EXPECT_TRUE(std::isnan(dataset.samples[2].age_years));
  EXPECT_EQ(dataset.samples[0].view, "PA");
  EXPECT_EQ(dataset.samples[3].view, "AP") << "the header's, where there is no projection";
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

TEST_F(Padchest, keeps_frontal_views) {
  options_.views = {"frontal"};
  EXPECT_THAT(load_dataset(options_).notes, Contains(HasSubstr("views frontal: 3 kept, 1 of other views dropped")));
}

TEST_F(Padchest, refuses_what_is_not_as_published) {
  options_.labels = {"Effussion"};
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(options_)); }),
              HasSubstr("[data.labels] Effussion: expected a label that a row of the table has"));
  options_.labels = {"Effusion"};
  for (const char* list : {"pleural effusion", "\"['a'\"", "\"['a' 'b']\"", "\"['a',]\"", "['a", "[a]"}) {
    write(std::string("0,1_a.png,0,20140915,s1,1,1930,F,PA,PA,,") + list + ",x\n");
    EXPECT_THAT(refusal(), HasSubstr("line 2: expected Labels as ['a', 'b'], got")) << list;
  }
  write("0,1_a.png,0\n");
  EXPECT_THAT(refusal(), HasSubstr("line 2: expected an ImageID and Labels"));
  write("0,9_z.png,0,20140915,s1,1,1930,F,PA,PA,,['normal'],x\n0,1_a.png,0,20140915,s1,1,1930,F,PA,PA,,['normal'],x\n");
  EXPECT_THAT(refusal(), HasSubstr("1 of 2 absent (9_z.png)"));
  folder_.write("PADCHEST_b.csv", kHeader);
  EXPECT_THAT(refusal(), HasSubstr("expected one PADCHEST...csv, got 2"));
}

}  // namespace
}  // namespace roentgen::data
