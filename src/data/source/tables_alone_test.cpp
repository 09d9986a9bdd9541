// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Label tables that are read without image files (ImageFiles::Unneeded), by the dataset readers nih and csv.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "data/source/csv_testing.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr float kNone = -9.0F;  // value that column() returns for an unknown label

class LabelRows : public testing::Test {
 protected:
  SourceOptions options(std::string_view table, std::vector<std::string> labels) {
    SourceOptions options{.root = folder_.path(), .csv = {folder_.write("table.csv", table)}};
    options.labels = std::move(labels);
    options.unknown_labels = UnknownLabels::Mask;
    options.files = ImageFiles::Unneeded;
    options.split.mode = SplitMode::Whole;
    return options;
  }
  Dataset read(std::string_view table, std::vector<std::string> labels) {
    return load_dataset(options(table, std::move(labels)));
  }
  TestFolder folder_;
};

TEST_F(LabelRows, of_nih_have_findings_views_and_facts) {
  const Dataset rows = read(
      "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View Position,\n"
      "00000001_000.png,Cardiomegaly|Pleural Thickening,0,1,058Y,M,PA,\n"
      "images/00000001_001.png,No Finding,1,1,59,M,AP,\n"
      "00000002_000.png,Hernia,0,,411,F,PA,\n",
      {"Cardiomegaly", "Pleural_Thickening", "View:AP", "No Finding"});
  EXPECT_EQ(rows.source, "nih");
  const Sample& first = rows.samples.at(0);
  EXPECT_THAT(first.labels, ElementsAre(1, 1, 0, 0));
  EXPECT_EQ(first.patient, "1");
  EXPECT_EQ(first.study, "1/0");
  EXPECT_EQ(first.view, "PA");
  EXPECT_EQ(first.sex, "M");
  EXPECT_EQ(first.age_years, 58.0F);
  EXPECT_EQ(rows.samples.at(1).id, "00000001_001.png") << "known by its base name";
  EXPECT_THAT(rows.samples[1].labels, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(rows.samples.at(2).patient, "2") << "from the image names";
  EXPECT_TRUE(std::isnan(rows.samples[2].age_years));
}

TEST_F(LabelRows, of_nih_may_name_images_in_another_column) {
  EXPECT_EQ(read("image,Finding Labels\n00000001_000.png,Mass\n", {"Mass"}).source, "nih");
}

TEST_F(LabelRows, of_nih_take_view_sex_and_age_from_its_own_columns) {
  const Dataset rows = read(
      "Image Index,Finding Labels,view,sex,age,patient,View Position,Patient Gender,Patient Age,Patient ID\n"
      "a.png,Mass,x,unknown,-1,z,PA,F,40,7\n",
      {"Mass"});
  const Sample& row = rows.samples.at(0);
  EXPECT_EQ(row.view + row.sex + row.patient, "PAF7");
  EXPECT_EQ(row.age_years, 40.0F);
}

TEST_F(LabelRows, of_nih_may_have_labels_beside_the_findings) {
  const Dataset rows =
      read("Image Index,Finding Labels,Reader 2,site\na.png,Mass,1,A\nb.png,No Finding,0,B\nc.png,Mass,,\n",
           {"Mass", "Reader 2", "site:A"});
  EXPECT_THAT(column(rows, 0), ElementsAre(1, 0, 1));
  EXPECT_THAT(column(rows, 1), ElementsAre(1, 0, kNone));
  EXPECT_THAT(column(rows, 2), ElementsAre(1, 0, kNone));
  const auto refusal = message_of<DataError>(
      [this] { static_cast<void>(read("Image Index,Finding Labels,Reader 2\na.png,Mass,perhaps\n", {"Reader 2"})); });
  EXPECT_THAT(refusal, HasSubstr("line 2: expected 1, 0, -1, yes, no or an empty field for Reader 2"));
}

TEST_F(LabelRows, are_of_the_first_column_that_names_images) {
  EXPECT_EQ(read("image,path,Mass\na.png,b.png,1\n", {"Mass"}).samples.at(0).id, "a.png");
  EXPECT_EQ(read("path,image,Mass\na.png,b.png,1\n", {"Mass"}).samples.at(0).id, "a.png");
}

TEST_F(LabelRows, may_end_in_a_comma) {
  EXPECT_THAT(column(read("path,Mass\na.png,1,\nb.png,0\n", {"Mass"}), 0), ElementsAre(1, 0));
}

TEST_F(LabelRows, are_there_whatever_their_view) {
  SourceOptions asked = options("path,Mass,view\na.png,1,PA\nb.png,0,LL\n", {"Mass"});
  asked.views = {"PA"};
  EXPECT_EQ(load_dataset(asked).samples.size(), 2U);
}

TEST_F(LabelRows, have_a_column_a_label) {
  const Dataset rows = read(
      "path,patient,study,sex,Mass,Edema,cause\na.png,p,s1,F,1,-1,virus\nb.png,q,s1,M,no,,\n"
      "c.png,q,,M,0,1.0,bacteria\n",
      {"Edema", "Mass", "cause:virus"});
  EXPECT_EQ(rows.source, "csv");
  EXPECT_THAT(column(rows, 0), ElementsAre(kNone, kNone, 1));
  EXPECT_THAT(column(rows, 1), ElementsAre(1, 0, 0));
  EXPECT_THAT(column(rows, 2), ElementsAre(1, kNone, 0));
  EXPECT_EQ(rows.samples.at(0).study, "p/s1");
  EXPECT_EQ(rows.samples.at(1).study, "q/s1");
  EXPECT_EQ(rows.samples.at(2).study, "");
}

TEST_F(LabelRows, read_blanks_and_uncertain_ones_as_they_are_told) {
  SourceOptions asked =
      options("path,Mass,Edema,cause\na.png,-1,-1,virus\nb.png,,,\n", {"Mass", "Edema", "cause:virus"});
  asked.policy = {.blank = Blank::Negative, .uncertain = Uncertain::One};
  asked.label_policies = {{"Edema", {}}};
  const Dataset rows = load_dataset(asked);
  EXPECT_THAT(column(rows, 0), ElementsAre(1, 0));
  EXPECT_THAT(column(rows, 1), ElementsAre(kNone, kNone)) << "unknown of all";
  EXPECT_THAT(absent_labels(rows), ElementsAre("Edema"));
  EXPECT_THAT(column(rows, 2), ElementsAre(1, 0));
}

TEST_F(LabelRows, know_studies_by_their_folders) {
  const Dataset rows =
      read("image,Mass\ntrain/patient1/study2/view1_frontal.jpg,1\np10/p100/s500/x.jpg,0\nstuff/y.jpg,0\n", {"Mass"});
  EXPECT_EQ(rows.samples.at(0).study, "train/patient1/study2");
  EXPECT_EQ(rows.samples.at(1).study, "p10/p100/s500");
  EXPECT_EQ(rows.samples.at(2).study, "");
}

TEST_F(LabelRows, find_labels_in_any_spelling_and_leave_those_they_lack_unknown) {
  const Dataset nih = read("Image Index,Finding Labels\na.png,\"mass, PLEURAL thickening\"\nb.png,Efusion\nc.png,nan\n",
                           {"Mass", "Pleural_Thickening", "Fracture"});
  EXPECT_THAT(column(nih, 0), ElementsAre(1, 0, kNone));
  EXPECT_THAT(column(nih, 1), ElementsAre(1, 0, kNone));
  EXPECT_THAT(column(nih, 2), ElementsAre(kNone, kNone, kNone));
  EXPECT_THAT(absent_labels(nih), ElementsAre("Fracture"));
  EXPECT_THAT(nih.notes, testing::Contains("findings that no label uses: Efusion 1"));
  const Dataset own =
      read("path,patient,MASS,Cause\na.png,12.0,1,Virus|fungus\nb.png,12,0,bacteria\n", {"Mass", "cause:virus"});
  EXPECT_THAT(column(own, 0), ElementsAre(1, 0));
  EXPECT_THAT(column(own, 1), ElementsAre(1, 0));
  EXPECT_EQ(own.samples.at(0).patient, own.samples.at(1).patient);
}

TEST_F(LabelRows, are_refused_as_those_of_images_are) {
  const auto refusal = [this](std::string_view table) {
    return message_of<DataError>([&] { static_cast<void>(read(table, {"Mass"})); });
  };
  EXPECT_THAT(refusal("path,Mass\na.png,perhaps\n"),
              HasSubstr("line 2: expected 1, 0, -1, yes, no or an empty field for Mass"));
  EXPECT_THAT(
      refusal("path,Mass\na.png,1\n./a.png,1\n"),
      AllOf(HasSubstr("expected one row for each image, got 1 repeated (table.csv line 3)"), Not(HasSubstr("a.png"))));
  EXPECT_THAT(refusal("Image Index,Finding Labels\na.png,Mass\na.png,Mass\n"),
              AllOf(HasSubstr("got 1 repeated (line 3)"), Not(HasSubstr("a.png"))));
  EXPECT_THAT(refusal("path,Mass\n,1\n"), HasSubstr("line 2: expected the path of an image, got an empty field"));
  EXPECT_THAT(refusal("path,Mass\na.png\n"), HasSubstr("line 2: expected 2 fields, got 1"));
  SourceOptions csv = options("name,Mass\na.png,1\n", {"Mass"});
  csv.source = "csv";
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(load_dataset(csv)); }),
              HasSubstr("expected a column \"path\" or \"file\", got only the columns name, Mass"));
}

TEST_F(LabelRows, of_labels_that_several_columns_could_be_are_refused) {
  for (const char* label : {"Mass", "Mass:1"}) {
    EXPECT_THAT(message_of<ConfigError>([&] {
                  static_cast<void>(read("path,mass,MASS,Cardiomegaly\na.png,1,0,1\n", {label, "Cardiomegaly"}));
                }),
                HasSubstr("got mass, MASS; try"))
        << label;
  }
}

}  // namespace
}  // namespace roentgen::data
