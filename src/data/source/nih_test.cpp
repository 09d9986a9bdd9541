// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dataset reader `nih`: both csv versions, folder trees, and split lists with labels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/source/nih_fields.h"
#include "data/source/source_testing.h"
#include "data/source/table_fields.h"

namespace roentgen::data {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kHeader2020 =
    "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View Position,"
    "OriginalImage[Width,Height],OriginalImagePixelSpacing[x,y]\n";
constexpr std::string_view kRows2020 =
    "00000001_000.png,Cardiomegaly|Emphysema,0,1,57,M,PA,2682,2749,0.143,0.143\n"
    "00000001_001.png,No Finding,1,1,58,M,AP,2894,2729,0.143,0.143\n"
    "00000002_000.png,Hernia,0,2,80,F,PA,2500,2048,0.171,0.171\n";

class NihSource : public testing::Test {
 protected:
  /// Creates images in the folders of three archives, as they unpack.
  NihSource() {
    folder_.write("images_001/images/00000001_000.png", "");
    folder_.write("images_001/images/00000001_001.png", "");
    folder_.write("images_002/images/00000002_000.png", "");
  }
  SourceOptions options() {
    SourceOptions options;
    options.root = folder_.path();
    options.split.mode = SplitMode::Whole;
    return options;
  }
  std::string refusal(const SourceOptions& options) {
    return message_of<DataError>([&] { static_cast<void>(load_dataset(options)); });
  }
  void write_csv(std::string_view rows = kRows2020, std::string_view name = "Data_Entry_2017_v2020.csv") {
    folder_.write(name, std::string(kHeader2020) + std::string(rows));
  }
  TestFolder folder_;
};

TEST_F(NihSource, finds_a_gzipped_csv_behind_a_plain_one) {
  folder_.write("Data_Entry_2017_v2020.csv.gz", gzipped(std::string(kHeader2020) + std::string(kRows2020)));
  EXPECT_EQ(load_dataset(options()).csv.front().filename(), "Data_Entry_2017_v2020.csv.gz");
  write_csv();
  EXPECT_EQ(load_dataset(options()).csv.front().filename(), "Data_Entry_2017_v2020.csv");
}

TEST_F(NihSource, knows_the_patients_column_in_any_spelling_and_names_others) {
  const auto write = [&](std::string_view column) {
    folder_.write("labels.csv", "Image Index,Finding Labels,Patient Age," + std::string(column) +
                                    "\n00000001_000.png,Mass,50,a\n00000001_001.png,Mass,50,a\n"
                                    "00000002_000.png,Mass,50,b\n");
  };
  for (const char* column : {"patient_id", "PatientID", "patient"}) {
    write(column);
    EXPECT_EQ(load_dataset(options()).samples.back().patient, "b") << column;
  }
  write("old patient");
  EXPECT_THAT(load_dataset(options()).notes,
              testing::Contains("labels.csv: column old patient looks like patient ids and is not read; patients "
                                "are read from the image names"));
}

TEST_F(NihSource, reads_the_csv_of_2020_and_finds_images_in_archive_folders) {
  write_csv();
  const auto dataset = load_dataset(options());
  EXPECT_EQ(dataset.source, "nih");
  ASSERT_EQ(dataset.samples.size(), 3U);
  EXPECT_EQ(dataset.label_names.size(), 14U);
  const Sample& first = dataset.samples[0];
  EXPECT_EQ(first.path, folder_.path() / "images_001/images/00000001_000.png");
  EXPECT_EQ(first.patient, "1");
  EXPECT_EQ(first.view, "PA");
  EXPECT_EQ(first.sex, "M");
  EXPECT_EQ(first.age_years, 57.0F);
  EXPECT_THAT(first.labels, ElementsAre(0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0));
  EXPECT_THAT(dataset.samples[1].labels, testing::Each(0.0F));
}

TEST_F(NihSource, reads_the_csv_of_2017_with_its_trailing_comma_and_ages) {
  folder_.write("Data_Entry_2017.csv",
                "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View Position,"
                "OriginalImage[Width,Height],OriginalImagePixelSpacing[x,y],\r\n"
                "00000001_000.png,Cardiomegaly,0,1,058Y,M,PA,2682,2749,0.143,0.143,\r\n"
                "00000001_001.png,No Finding,1,1,411Y,M,PA,2682,2749,0.143,0.143,\r\n"
                "00000002_000.png,Mass,0,2,006M,F,AP,2682,2749,0.143,0.143,\r\n");
  const auto dataset = load_dataset(options());
  EXPECT_EQ(dataset.samples[0].age_years, 58.0F);
  EXPECT_TRUE(std::isnan(dataset.samples[1].age_years));
  EXPECT_EQ(dataset.samples[2].age_years, 0.5F);
  EXPECT_THAT(dataset.notes, testing::Contains(HasSubstr("invalid ages, read as unknown: 1")));
}

TEST_F(NihSource, finds_a_csv_of_any_name_by_its_header) {
  write_csv(kRows2020, "my_table.csv");
  folder_.write("other.csv", "a,b\n1,2\n");
  EXPECT_EQ(load_dataset(options()).csv, std::vector{folder_.path() / "my_table.csv"});
}

TEST_F(NihSource, prefers_the_official_name_then_labels_csv) {
  write_csv(kRows2020, "aaa.csv");
  write_csv(kRows2020, "labels.csv");
  EXPECT_EQ(load_dataset(options()).csv.front().filename(), "labels.csv");
  write_csv();
  EXPECT_EQ(load_dataset(options()).csv.front().filename(), "Data_Entry_2017_v2020.csv");
}

TEST_F(NihSource, refuses_to_choose_between_two_tables) {
  write_csv(kRows2020, "a.csv");
  write_csv(kRows2020, "b.csv");
  EXPECT_THAT(refusal(options()), HasSubstr("got a.csv, b.csv"));
}

TEST_F(NihSource, learns_view_sex_and_no_finding) {
  write_csv();
  auto wanted = options();
  wanted.labels = {"View:AP", "Sex:F", "No Finding", "Pleural Thickening"};
  const auto dataset = load_dataset(wanted);
  EXPECT_THAT(dataset.label_names, ElementsAre("View:AP", "Sex:F", "No Finding", "Pleural_Thickening"));
  EXPECT_THAT(dataset.samples[1].labels, ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(dataset.samples[2].labels, ElementsAre(0, 1, 0, 0));
}

TEST_F(NihSource, learns_a_finding_that_only_this_csv_has) {
  write_csv("00000001_000.png,Fracture,0,1,57,M,PA,1,1,1,1\n00000002_000.png,No Finding,0,2,57,M,PA,1,1,1,1\n");
  auto wanted = options();
  wanted.labels = {"Fracture"};
  EXPECT_EQ(load_dataset(wanted).summary(Split::Test).labels[0].positives, 1);
}

TEST_F(NihSource, finds_findings_in_any_spelling_and_counts_those_that_no_label_asks_for) {
  write_csv(
      "00000001_000.png,\"Mass, effusion\",0,1,57,M,PA,2682,2749,0.143,0.143\n"
      "00000001_001.png,PLEURAL thickening;Efusion,1,1,58,M,AP,2894,2729,0.143,0.143\n"
      "00000002_000.png,no_finding,0,2,80,F,PA,2500,2048,0.171,0.171\n");
  SourceOptions wanted = options();
  wanted.labels = {"Mass", "Effusion", "Pleural_Thickening", "No Finding"};
  const Dataset dataset = load_dataset(wanted);
  EXPECT_THAT(dataset.samples[0].labels, ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(dataset.samples[1].labels, ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(dataset.samples[2].labels, ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(dataset.notes, Contains("findings that no label uses: Efusion 1"));
}

TEST_F(NihSource, knows_nothing_of_rows_without_findings_and_reads_views_and_sexes_in_any_case) {
  write_csv(
      "00000001_000.png,nan,0,1,57,male,pa,2682,2749,0.143,0.143\n"
      "00000001_001.png,Mass,1,1,58,M,AP,2894,2729,0.143,0.143\n"
      "00000002_000.png,Mass,0,2,80,F,,2500,2048,0.171,0.171\n");
  SourceOptions wanted = options();
  wanted.labels = {"Mass", "View:PA", "Sex:M"};
  const Dataset dataset = load_dataset(wanted);
  EXPECT_TRUE(std::isnan(dataset.samples[0].labels[0]));
  EXPECT_EQ(dataset.samples[0].labels[1], 1.0F);
  EXPECT_EQ(dataset.samples[0].labels[2], 1.0F);
  EXPECT_TRUE(std::isnan(dataset.samples[2].labels[1]));
  EXPECT_THAT(dataset.notes, Contains("images without findings, unknown or labelled by data.blank: 1"));
}

TEST_F(NihSource, refuses_an_unknown_finding) {
  write_csv();
  auto wanted = options();
  wanted.labels = {"Mas"};
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(wanted)); }),
              testing::AllOf(HasSubstr("[data.labels] Mas"), HasSubstr("Mass")));
}

TEST_F(NihSource, refuses_an_image_that_lies_in_two_folders_unless_told_where) {
  write_csv();
  folder_.write("small/00000001_000.png", "");
  auto wanted = options();
  EXPECT_THAT(refusal(wanted), HasSubstr("1 in two folders (00000001_000.png in images and small)"));
  wanted.images = {"images_001", "images_002"};
  EXPECT_EQ(load_dataset(wanted).samples.size(), 3U);
  wanted.images = {"small", "."};
  wanted.duplicates = Duplicates::First;
  const auto dataset = load_dataset(wanted);
  EXPECT_EQ(dataset.samples[0].path, folder_.path() / "small/00000001_000.png");
  EXPECT_THAT(dataset.notes, testing::Contains("repeated files, the first is kept: 1 in two folders"));
}

TEST_F(NihSource, refuses_absent_images) {
  write_csv("00000001_000.png,Mass,0,1,57,M,PA,1,1,1,1\n00000009_000.png,Mass,0,9,57,M,PA,1,1,1,1\n");
  EXPECT_THAT(refusal(options()), HasSubstr("1 of 2 missing (00000009_000.png)"));
}

TEST_F(NihSource, notes_images_that_no_row_names) {
  write_csv("00000001_000.png,Mass,0,1,57,M,PA,1,1,1,1\n00000001_001.png,Mass,0,1,57,M,PA,1,1,1,1\n");
  EXPECT_THAT(load_dataset(options()).notes, testing::Contains("image files that are not in the table: 1"));
}

TEST_F(NihSource, refuses_a_short_row_with_its_line) {
  write_csv("00000001_000.png,Mass,0,1,57,M,PA,1,1,1,1\n00000001_001.png,Mass\n");
  EXPECT_THAT(refusal(options()), HasSubstr("Data_Entry_2017_v2020.csv line 3"));
}

TEST_F(NihSource, refuses_a_header_without_rows) {
  write_csv("");
  EXPECT_THAT(refusal(options()), HasSubstr("only a header"));
}

TEST_F(NihSource, reads_a_csv_elsewhere_when_named) {
  write_csv(kRows2020, "elsewhere/table.csv");
  auto wanted = options();
  wanted.csv = {"elsewhere/table.csv"};
  EXPECT_EQ(load_dataset(wanted).samples.size(), 3U);
  wanted.csv = {"elsewhere"};
  wanted.source = "nih";
  EXPECT_THAT(refusal(wanted), HasSubstr("elsewhere"));
}

TEST_F(NihSource, reads_community_lists_where_there_is_no_csv) {
  folder_.write("train_list.txt",
                "images_001/00000001_000.png 0 1 0 0 0 0 0 0 0 0 1 0 0 0\n"
                "00000001_001.png 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
  folder_.write("val_list.txt", "00000002_000.png 0 0 0 0 0 0 0 0 0 0 0 0 0 1\n");
  auto wanted = options();
  wanted.split.mode = SplitMode::Auto;
  const auto dataset = load_dataset(wanted);
  ASSERT_EQ(dataset.samples.size(), 3U);
  EXPECT_EQ(dataset.samples[0].labels[1], 1.0F);
  EXPECT_EQ(dataset.samples[0].labels[10], 1.0F);
  EXPECT_THAT(dataset.samples[1].labels, testing::Each(0.0F));
  EXPECT_EQ(dataset.samples[2].labels[13], 1.0F);
  EXPECT_EQ(dataset.samples[2].patient, "2");
  EXPECT_EQ(dataset.samples[2].split, Split::Val);
}

TEST(NihFields, reads_ages_in_every_unit) {
  EXPECT_EQ(parse_age("58"), 58.0F);
  EXPECT_EQ(parse_age("058Y"), 58.0F);
  EXPECT_EQ(parse_age("006M"), 0.5F);
  for (const char* bad : {"", "Y", "155", "412Y", "-1", "058X", "58YY"}) EXPECT_TRUE(std::isnan(parse_age(bad))) << bad;
}

TEST(NihFields, gives_a_patient_one_name) {
  EXPECT_EQ(canonical_patient("00000017"), "17");
  EXPECT_EQ(canonical_patient("17"), "17");
  EXPECT_EQ(canonical_patient("00000017_003.png"), "17");
  EXPECT_EQ(canonical_patient("0"), "0");
  EXPECT_EQ(canonical_patient(""), "");
}

TEST(NihFields, splits_and_spells_findings) {
  EXPECT_THAT(split_findings("Mass| Pleural Thickening|Infiltrate"),
              ElementsAre("Mass", "Pleural_Thickening", "Infiltration"));
  EXPECT_TRUE(split_findings("").empty());
}

}  // namespace
}  // namespace roentgen::data
