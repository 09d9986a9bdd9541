// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dataset reader `csv`: which columns are labels, how names are matched, and how errors and notes say how to name them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/source/csv_testing.h"
#include "data/source/dataset.h"

namespace roentgen::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(CsvSource, names_label_columns_of_nearly_one_name) {
  const std::string csv = "path,Mass,mass,M_ass,old\na.png,1,0,0,1\nb.png,0,1,1,1\n";
  const auto dataset = load_dataset(options(csv, {"Mass", "old"}));
  EXPECT_THAT(column(dataset, 0), ElementsAre(1, 0));
  EXPECT_THAT(
      dataset.notes,
      testing::IsSupersetOf({"labels.csv: column Mass is read, but column mass with almost the same name is not",
                             "labels.csv: column Mass is read, but column M_ass with almost the same name is not"}));
  auto wanted = options(csv, {"MASS"});
  for (const UnknownLabels unknown : {UnknownLabels::Refuse, UnknownLabels::Mask}) {
    wanted.unknown_labels = unknown;
    EXPECT_THAT(
        message_of<ConfigError>([&] { static_cast<void>(load_dataset(wanted)); }),
        HasSubstr("[data.labels] MASS: expected a single column for this finding in labels.csv, got Mass, mass; try"));
  }
  wanted.labels = {"MASS:1"};
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(wanted)); }), HasSubstr("got Mass, mass"));
}

TEST_F(CsvSource, reads_a_header_with_line_breaks_in_its_cells) {
  const auto dataset =
      load_dataset(options("path,\"Pleural\r\nThickening\"\na.png,1\nb.png,0\n", {"Pleural_Thickening"}));
  EXPECT_EQ(dataset.source, "csv");
  EXPECT_THAT(column(dataset, 0), ElementsAre(1, 0));
}

TEST_F(CsvSource, tells_names_of_columns_apart_by_their_line_breaks_where_labels_have_them) {
  const std::string csv = "\"image\nfile\",path,\"new\nline\",new line\nx,a.png,1,0\nx,b.png,0,1\n";
  const auto dataset = load_dataset(options(csv, {"new\nline", "new line"}));
  EXPECT_THAT(dataset.label_names, ElementsAre("new\nline", "new line"));
  EXPECT_THAT(column(dataset, 0), ElementsAre(1, 0));
  EXPECT_THAT(column(dataset, 1), ElementsAre(0, 1));
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(options(csv, {"New_Line"}))); }),
              HasSubstr("expected a single column for this finding in labels.csv, got new line, new line; try"));
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(options(csv, {"none"}))); }),
              testing::Not(HasSubstr("\n")));
}

TEST_F(CsvSource, reads_patients_of_the_column_that_is_told) {
  auto wanted = options("path,patient,MRN,sick\na.png,1,x,1\nb.png,2,x,0\n");
  wanted.patient = "mrn";
  EXPECT_EQ(load_dataset(wanted).samples.at(0).patient, "x");
  wanted.patient = "PID";
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(wanted)); }),
              HasSubstr("[data.csv] data.patient: expected the name of a column of labels.csv, got PID; try one of "
                        "these columns: path, patient, MRN, sick"));
}

TEST_F(CsvSource, reads_images_of_the_column_that_is_told) {
  auto wanted = options("path,Bild,sick\nx,a.png,1\ny,b,0\n");
  wanted.image = "bild";
  const Dataset dataset = load_dataset(wanted);
  EXPECT_EQ(dataset.samples.at(0).id, "a.png");
  EXPECT_EQ(dataset.samples.at(1).path, folder_.path() / "b.png");
  wanted.image = "Foto";
  EXPECT_THAT(refusal(wanted), HasSubstr("labels.csv: expected the column Foto of image files, got only the columns "
                                         "path, Bild, sick; try --set data.image=COLUMN"));
  wanted.source = "csv";
  EXPECT_THAT(refusal(wanted), HasSubstr("labels.csv: expected a column Foto, got only the columns path, Bild, sick"));
}

TEST_F(CsvSource, searches_a_folder_for_a_table_with_the_image_column_that_is_told) {
  folder_.write("mine.csv", "Bild,sick\na.png,1\nb.png,0\n");
  folder_.write("other.csv", "file,old\na.png,1\nb.png,0\n");
  SourceOptions wanted{.root = folder_.path(), .image = "Bild", .labels = {"sick"}};
  wanted.split.mode = SplitMode::Whole;
  EXPECT_THAT(column(load_dataset(wanted), 0), ElementsAre(1, 0));
}

TEST_F(CsvSource, finds_images_of_absolute_paths_of_another_machine) {
  folder_.write("p1/x.png", "");
  folder_.write("p2/x.png", "");
  folder_.write("p2/y.png", "");
  const Dataset dataset = load_dataset(
      options("path,sick\n/none/study/p1/x.png,1\nD:\\Studie\\y.png,0\n\\\\host\\share\\a.png,1\n/none/b,0\n"));
  EXPECT_EQ(dataset.samples.at(0).path, folder_.path() / "p1/x.png");
  EXPECT_EQ(dataset.samples.at(1).path, folder_.path() / "p2/y.png");
  EXPECT_EQ(dataset.samples.at(2).path, folder_.path() / "a.png");
  EXPECT_EQ(dataset.samples.at(3).path, folder_.path() / "b.png");
  EXPECT_THAT(dataset.notes, testing::Contains("rows with an absolute path that does not exist here, found in the data "
                                               "folder by the end of the path: 4"));
}

TEST_F(CsvSource, takes_no_file_for_a_path_of_another_machine_that_several_fit) {
  folder_.write("p1/x.png", "");
  folder_.write("p2/x.png", "");
  EXPECT_THAT(
      refusal(options("path,sick\n/none/p3/x.png,1\n")),
      HasSubstr("x.png: expected one file of that name in the data folder, got p1/x.png, p2/x.png; try writing"));
  EXPECT_THAT(refusal(options("path,sick\na.png,0\n/none/z.png,1\n")), HasSubstr("1 of 2 missing (/none/z.png)"));
  EXPECT_THAT(refusal(options("path,sick\n/none/q/a.png,0\n/none/r/a.png,1\n")), HasSubstr("1 repeated"));
}

TEST_F(CsvSource, refuses_a_column_of_patients_where_no_table_has_one) {
  folder_.write("x/1.png", "");
  folder_.write("y/2.png", "");
  EXPECT_THAT(message_of<ConfigError>([&] {
                static_cast<void>(load_dataset({.root = folder_.path(), .source = "class_folders", .patient = "MRN"}));
              }),
              HasSubstr("data.patient: expected data.source=csv"));
  EXPECT_THAT(message_of<ConfigError>([&] {
                static_cast<void>(load_dataset({.root = folder_.path(), .source = "class_folders", .image = "Bild"}));
              }),
              HasSubstr("data.image: expected data.source=csv"));
}

TEST_F(CsvSource, takes_names_without_endings_where_one_file_is_meant) {
  folder_.write("1.2.840.dcm", "");
  auto wanted = options("path,sick\na,1\n1.2.840,0\nb.png,0\n");
  const Dataset dataset = load_dataset(wanted);
  EXPECT_EQ(dataset.samples.at(0).path, folder_.path() / "a.png");
  EXPECT_EQ(dataset.samples.at(0).id, "a");
  EXPECT_EQ(dataset.samples.at(1).path, folder_.path() / "1.2.840.dcm");
  folder_.write("a.JPG", "");
  EXPECT_THAT(refusal(wanted),
              HasSubstr("[data.csv] a: expected one image file with this name before the extension, got a.JPG, a.png"));
  EXPECT_THAT(refusal(options("path,sick\nb,1\nb.png,0\n")), HasSubstr("1 repeated (b.png)"));
}

TEST_F(CsvSource, is_found_by_a_table_of_any_name_that_names_images_that_are_there) {
  folder_.write("scan.dcm", std::string(128, '\0') + "DICM");
  folder_.write("befunde.csv", "file;sick;projection\na;1;PA\nb;0;AP\n");
  folder_.write("other.csv", "file;old\nc.png;1\n");
  folder_.write("lost.csv", "file;sick\nz.png;1\n");
  SourceOptions wanted{.root = folder_.path(), .labels = {"sick"}};
  wanted.split.mode = SplitMode::Whole;
  const Dataset dataset = load_dataset(wanted);
  EXPECT_EQ(dataset.source, "csv");
  EXPECT_EQ(dataset.samples.size(), 2U);
  EXPECT_EQ(dataset.samples.front().view, "PA");
  EXPECT_EQ(dataset.left_out_images, 5);
  EXPECT_THAT(
      dataset.notes,
      testing::IsSupersetOf(
          {"other tables with a column of images are not read: other.csv; set data.csv to choose a table",
           "tables without any existing image are not read: lost.csv", "image files that are not in the table: 5"}));
}

TEST_F(CsvSource, whose_images_are_absent_is_refused_rather_than_passed_over) {
  folder_.write("scan.dcm", std::string(128, '\0') + "DICM");
  folder_.write("befunde.csv", "file;sick\nx/a.png;1\nx/b.png;0\n");
  EXPECT_THAT(
      refusal({.root = folder_.path()}),
      testing::AllOf(HasSubstr("[data.source] befunde.csv: expected the images of this table in the folder"),
                     HasSubstr("got none of them (x/a.png, x/b.png); try writing paths relative to the table, or "
                               "--set data.source=dicom")));
}

TEST_F(CsvSource, says_how_names_differ_from_those_of_the_files) {
  folder_.write("x/Thor\xC3\xA4x 1.JPG", "");  // precomposed a-umlaut
  const auto with = [&](const std::string& name) {
    return refusal(options("path,Mass\na.png,0\n" + name + ",1\n", {"Mass"}));
  };
  EXPECT_THAT(with("x/thor\xC3\xA4x 1.jpg"), HasSubstr("try writing names exactly as the files have them"));
  EXPECT_THAT(with("x/Thora\xCC\x88x 1.JPG"), HasSubstr("their Unicode form must match")) << "combining umlaut";
  EXPECT_THAT(with("x/Thor\xE4x 1.JPG"), HasSubstr("try saving the table as UTF-8 csv")) << "Latin-1";
  EXPECT_THAT(with("x/Thorax 1.JPG"), HasSubstr("try --set data.absent=skip"));
  EXPECT_THAT(with("none/a.png1"), HasSubstr("try --set data.absent=skip"));
}

TEST_F(CsvSource, proposes_labels_where_that_is_asked_for) {
  auto wanted = options("path,sick,note\na.png,1,x\nb.png,0,y\n", {});
  wanted.unnamed_labels = UnnamedLabels::Propose;
  const Dataset dataset = load_dataset(wanted);
  EXPECT_THAT(dataset.label_names, ElementsAre("sick"));
  EXPECT_THAT(dataset.notes, testing::Contains("labels are not named yet; try --set data.labels=sick"));
  folder_.write("labels.csv", "path,note\na.png,x\n");
  EXPECT_TRUE(load_dataset(wanted).label_names.empty());
}

TEST_F(CsvSource, prints_remedies_that_a_shell_takes_as_they_are) {
  const auto remedy = [&](const std::string& csv) {
    const std::string error = message_of<ConfigError>([&] { static_cast<void>(load_dataset(options(csv, {}))); });
    return error.substr(error.find("; try ") + 6);
  };
  EXPECT_EQ(remedy("path,x; touch pwned;\na.png,1\n"), "--set 'data.labels=x; touch pwned;'");
  EXPECT_EQ(remedy("path,Crohn's,\"q\"\"x\",back\\slash\na.png,1,1,1\n"),
            R"(--set 'data.labels=["Crohn'\''s","q\"x","back\\slash"]')");
  EXPECT_THAT(refusal(options("path,Lung Opacity\na.png,\"x,0\"\n", {"Lung Opacity"})),
              testing::EndsWith(" absent, --set 'data.labels=[\"Lung Opacity:x,0\"]'"));
}

TEST_F(CsvSource, describes_data_that_no_split_can_be_drawn_of) {
  auto wanted = options("path,Mass\na.png,1\nb.png,0\n", {});
  wanted.split.mode = SplitMode::Auto;
  wanted.unnamed_labels = UnnamedLabels::Propose;
  const Dataset dataset = load_dataset(wanted);
  EXPECT_THAT(dataset.label_names, ElementsAre("Mass"));
  EXPECT_EQ(dataset.summary(Split::Train).images, 2);
  EXPECT_EQ(dataset.split_origin, "train: every image");
  EXPECT_THAT(dataset.notes,
              testing::Contains(testing::AllOf(
                  HasSubstr("train will refuse this data: random split by patient needs a patient id for every image, "
                            "got 2 of 2 images without one; train will need a column \"patient\""),
                  HasSubstr("--set data.split_unit=image"))));
  folder_.write("labels.csv", "path,patient,Mass\na.png,p,1\nb.png,p,0\n");
  EXPECT_THAT(load_dataset(wanted).notes,
              testing::Contains(HasSubstr("at least 2 patients for a random split, got 1")));
  folder_.write("labels.csv", "path,split,Mass\na.png,train,1\nb.png,test,0\n");
  EXPECT_THAT(load_dataset(wanted).notes, testing::Contains(HasSubstr("got 2 of 2 images without")));
  wanted.unnamed_labels = UnnamedLabels::Refuse;
  wanted.labels = {"Mass"};
  EXPECT_THAT(refusal(wanted), HasSubstr("[data.split] random split by patient"));
}

}  // namespace
}  // namespace roentgen::data
