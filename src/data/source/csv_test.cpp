// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dataset reader `csv`: columns, label values and policies, and each way a table can be wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "data/source/csv_testing.h"
#include "data/source/dataset.h"

namespace roentgen::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(CsvSource, is_detected_and_reads_every_column) {
  const auto dataset = load_dataset(options(
      "path,patient,split,view,sex,age,sick\na.png,p1,train,PA,F,61,1\nb.png,p2,val,AP,M,7,0\nc.png,p3,,,,,1\n"));
  EXPECT_EQ(dataset.source, "csv");
  ASSERT_EQ(dataset.samples.size(), 3U);
  const Sample& first = dataset.samples[0];
  EXPECT_EQ(first.id, "a.png");
  EXPECT_EQ(first.path, folder_.path() / "a.png");
  EXPECT_EQ(first.patient, "p1");
  EXPECT_EQ(first.view, "PA");
  EXPECT_EQ(first.sex, "F");
  EXPECT_EQ(first.age_years, 61.0F);
  EXPECT_TRUE(std::isnan(dataset.samples[2].age_years));
}

TEST_F(CsvSource, finds_a_gzipped_table) {
  const auto asked = options("");
  std::filesystem::remove(folder_.path() / "labels.csv");
  folder_.write("labels.csv.gz", gzipped("path,sick\na.png,1\nb.png,0\n"));
  const auto dataset = load_dataset(asked);
  EXPECT_EQ(dataset.source, "csv");
  EXPECT_THAT(column(dataset, 0), ElementsAre(1, 0));
}

TEST_F(CsvSource, takes_splits_from_the_column) {
  auto wanted = options("file,patient,split,sick\na.png,1,train,1\nb.png,2,validation,0\nc.png,3,test,0\nd.png,4,,1\n");
  wanted.split.mode = SplitMode::Auto;
  const auto dataset = load_dataset(wanted);
  EXPECT_EQ(dataset.samples[0].split, Split::Train);
  EXPECT_EQ(dataset.samples[1].split, Split::Val);
  EXPECT_EQ(dataset.samples[2].split, Split::Test);
  EXPECT_EQ(dataset.samples[3].split, Split::None);
  EXPECT_THAT(samples_of(dataset, Split::Val), ElementsAre(1U));
}

TEST_F(CsvSource, takes_splits_in_any_case_and_names_words_that_are_none) {
  auto wanted = options(
      "path,patient,split,sick\na.png,1,Train,1\nb.png,2,VAL,0\nc.png,3,\" test \",0\nd.png,4,Validation,1\n"
      "e.png,5,TRAINING,1\nf.png,6,testing,0\n");
  wanted.split.mode = SplitMode::Auto;
  const auto dataset = load_dataset(wanted);
  std::vector<Split> splits;
  for (const Sample& sample : dataset.samples) splits.push_back(sample.split);
  EXPECT_THAT(splits, ElementsAre(Split::Train, Split::Val, Split::Test, Split::Val, Split::Train, Split::Test));
  folder_.write("labels.csv", "path,patient,split,sick\na.png,1,train,1\nb.png,2,trian,0\nc.png,3,fold 2,0\n");
  EXPECT_THAT(refusal(wanted), HasSubstr("labels.csv line 3: expected train, val, test or an empty field as split, got "
                                         "other text in 2 of 3 rows: trian 1, fold 2 1; try "));
}

TEST_F(CsvSource, reads_words_and_numbers_as_labels) {
  const auto dataset = load_dataset(options("path,sick\na.png,1.0\nb.png,no\nc.png,Positive\nd.png,0\ne.png,TRUE\n"));
  EXPECT_THAT(column(dataset, 0), ElementsAre(1, 0, 1, 0, 1));
}

TEST_F(CsvSource, reads_a_value_of_a_column_as_a_label) {
  const auto dataset = load_dataset(
      options("path,cause\na.png,virus\nb.png,bacteria\nc.png,none\nd.png,\n", {"cause:virus", "cause:none"}));
  EXPECT_THAT(column(dataset, 0), ElementsAre(1, 0, 0, -9));
  EXPECT_THAT(column(dataset, 1), ElementsAre(0, 0, 1, -9));
}

TEST_F(CsvSource, finds_a_value_in_any_spelling_alone_or_in_a_list_and_counts_the_others) {
  const auto dataset = load_dataset(options(
      "path,cause\na.png,Virus\nb.png,bacteria|VIRUS\nc.png,viruss\nd.png,\"fungus; virus\"\n", {"Cause:virus"}));
  EXPECT_THAT(column(dataset, 0), ElementsAre(1, 1, 0, 1));
  EXPECT_THAT(dataset.notes,
              testing::Contains("values of column cause that no label uses: viruss 1, bacteria 1, fungus 1"));
}

TEST_F(CsvSource, compares_values_of_a_column_as_numbers_where_both_are) {
  const auto dataset = load_dataset(options("path,grade\na.png,1.0\nb.png,1\nc.png,-1\nd.png,2|+1\ne.png,2e0\nf.png,\n",
                                            {"grade:1", "grade:2.0", "grade:-1"}));
  EXPECT_THAT(column(dataset, 0), ElementsAre(1, 1, 0, 1, 0, -9));
  EXPECT_THAT(column(dataset, 1), ElementsAre(0, 0, 0, 1, 1, -9));
  EXPECT_THAT(column(dataset, 2), ElementsAre(0, 0, 1, 0, 0, -9));
}

TEST_F(CsvSource, hints_at_a_value_as_a_label_only_where_it_can_be_a_class) {
  EXPECT_THAT(
      refusal(options("path,sick\na.png,0.8\n")),
      testing::AllOf(HasSubstr("got \"0.8\"; try replacing the scores by 1 and 0"), testing::Not(HasSubstr("sick:"))));
  EXPECT_THAT(refusal(options("path,sick\na.png,2\n")),
              HasSubstr("if each number is a class, --set data.labels=sick:2"));
}

TEST_F(CsvSource, reads_a_table_that_declares_its_separator) {
  const auto dataset = load_dataset(options("sep=;\r\npath;sick\r\na.png;1\r\nb.png;0\r\n"));
  EXPECT_EQ(dataset.source, "csv");
  EXPECT_THAT(column(dataset, 0), ElementsAre(1, 0));
}

TEST_F(CsvSource, leaves_a_split_column_alone_where_splits_are_not_asked_of_it) {
  auto wanted = options("path,split,patient,sick\na.png,fold1,1,1\nb.png,fold2,2,0\n");
  EXPECT_EQ(load_dataset(wanted).summary(Split::Test).images, 2);
  wanted.split.mode = SplitMode::Random;
  wanted.split.test_fraction = 0.5;
  wanted.split.validation = ValidationFrom::None;
  EXPECT_EQ(load_dataset(wanted).summary(Split::Test).images, 1);
  wanted.split.mode = SplitMode::Auto;
  EXPECT_THAT(refusal(wanted), HasSubstr("line 2"));
}

TEST_F(CsvSource, masks_labels_that_the_table_lacks_where_told_unless_it_lacks_all) {
  auto wanted = options("path,sick\na.png,1\nb.png,0\n", {"sick", "old"});
  wanted.unknown_labels = UnknownLabels::Mask;
  const Dataset dataset = load_dataset(wanted);
  EXPECT_THAT(column(dataset, 0), ElementsAre(1, 0));
  EXPECT_THAT(column(dataset, 1), ElementsAre(-9, -9));
  EXPECT_THAT(absent_labels(dataset), ElementsAre("old"));
  wanted.labels = {"old", "ill"};
  EXPECT_THAT(refusal(wanted), HasSubstr("[data.labels] old: expected at least one image with a known value"));
}

TEST_F(CsvSource, takes_a_patient_for_one_in_all_spellings_of_a_number) {
  const auto dataset = load_dataset(
      options("path,patient,sick\na.png,12,1\nb.png,12.0,0\nc.png,0012,0\nd.png,nan,1\ne.png,None,1\nf.png,,1\n"));
  std::vector<std::string> patients;
  for (const Sample& sample : dataset.samples) patients.push_back(sample.patient);
  EXPECT_THAT(patients, ElementsAre("12", "12", "0012", "", "", ""));
  EXPECT_THAT(dataset.notes,
              testing::IsSupersetOf({HasSubstr("nan, none or similar): 3"), HasSubstr("ends in .0, read without it: 1"),
                                     HasSubstr("leading zeros (12 and 0012), read as different people: 1")}));
}

TEST_F(CsvSource, knows_the_patients_column_in_dicoms_and_mimics_spelling) {
  for (const char* name : {"PatientID", "subject_id", "Patient ID", "patientId", "patient-id", "PATIENT", "Subject ID",
                           "\"Patient  ID\"", "Subject"}) {
    const auto dataset = load_dataset(options("path," + std::string(name) + ",sick\na.png,7,1\nb.png,8,0\n"));
    EXPECT_EQ(dataset.samples.front().patient, "7") << name;
  }
}

TEST_F(CsvSource, names_columns_that_look_like_patients_and_are_not_read) {
  const auto notes = [&](std::string_view csv, const char* label = "sick") {
    auto all = load_dataset(options(csv, {label})).notes;
    std::erase_if(all,
                  [](const std::string& note) { return note.starts_with("image files that are not in the table"); });
    return all;
  };
  EXPECT_THAT(notes("path,anon_patient_id,sick,Patient Age\na.png,7,1,60\n"),
              ElementsAre(testing::AllOf(
                  HasSubstr("labels.csv: column anon_patient_id looks like patient ids and is not read; rename it"))));
  EXPECT_THAT(
      notes("path,patient,MRN,sick\na.png,7,1,1\n"),
      ElementsAre(
          "labels.csv: column MRN looks like patient ids and is not read; patients are read from column patient"));
  EXPECT_THAT(notes("path,patient_moved\na.png,1\n", "patient_moved"), testing::IsEmpty());
}

TEST_F(CsvSource, leaves_blank_and_uncertain_unknown_by_default) {
  const auto dataset = load_dataset(options("path,sick\na.png,\nb.png,-1\nc.png,1\n"));
  EXPECT_THAT(column(dataset, 0), ElementsAre(-9, -9, 1));
  EXPECT_EQ(dataset.summary(Split::Test).labels[0].unknown, 2);
}

TEST_F(CsvSource, applies_policies_per_label_before_the_one_for_all) {
  auto wanted = options("path,sick,old\na.png,,\nb.png,-1,-1.0\nc.png,1,1\n", {"sick", "old"});
  wanted.policy = {.blank = Blank::Negative, .uncertain = Uncertain::One};
  wanted.label_policies = {{"old", {.blank = Blank::Unknown, .uncertain = Uncertain::Zero}}};
  const auto dataset = load_dataset(wanted);
  EXPECT_THAT(column(dataset, 0), ElementsAre(0, 1, 1));
  EXPECT_THAT(column(dataset, 1), ElementsAre(-9, 0, 1));
}

TEST_F(CsvSource, keeps_frontal_views_and_counts_the_others) {
  auto wanted = options("path,view,sick\na.png,PA,1\nb.png,LL,0\nc.png,AP,0\nd.png,,1\n");
  wanted.views = {"frontal"};
  const auto dataset = load_dataset(wanted);
  EXPECT_EQ(dataset.samples.size(), 3U);
  EXPECT_THAT(dataset.notes, testing::Contains(HasSubstr("2 kept, 1 of other views dropped, 1 of unknown view kept")));
}

TEST_F(CsvSource, refuses_an_unknown_label_naming_the_columns) {
  const auto wanted = options("path,sick\na.png,1\n", {"ill"});
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(wanted)); }),
              testing::AllOf(HasSubstr("[data.labels] ill"), HasSubstr("path, sick")));
}

TEST_F(CsvSource, refuses_to_guess_labels) {
  const auto wanted = options("path,sick\na.png,1\n", {});
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(wanted)); }), HasSubstr("data.labels="));
}

TEST_F(CsvSource, suggests_a_column_that_reads_as_a_label) {
  const auto remedy = [&](std::string_view csv) {
    const auto wanted = options(csv, {});
    const std::string text = message_of<ConfigError>([&] { static_cast<void>(load_dataset(wanted)); });
    return text.substr(text.find("; try "));
  };
  EXPECT_EQ(remedy("path,age,cause,sick,sha1\na.png,1,virus,1,c3\nb.png,0,,no,0\n"), "; try --set data.labels=sick");
  EXPECT_EQ(remedy("path,Mass,patient,Pleural_Thickening,none\na.png,1,1,0,0\nb.png,0,2,-1,0\nc.png,,3,1,0\n"),
            R"(; try --set 'data.labels=["Mass","Pleural_Thickening"]')");
  EXPECT_THAT(remedy("path,age,cause,blank\na.png,1,virus,\n"), testing::Not(HasSubstr("--set data.labels=")));
}

TEST_F(CsvSource, knows_an_image_under_any_spelling_of_its_path) {
  folder_.write("im/a.png", "");
  for (const std::string& second :
       std::vector<std::string>{"./im/a.png", "im/../im/a.png", "im//a.png", (folder_.path() / "im/a.png").string()}) {
    const std::string csv = "path,sick\nim/a.png,1\n" + second + ",0\n";
    EXPECT_THAT(refusal(options(csv)), HasSubstr("expected one row for each image, got 1 repeated"));
    auto wanted = options(csv);
    wanted.duplicates = Duplicates::First;
    EXPECT_THAT(column(load_dataset(wanted), 0), ElementsAre(1)) << second;
  }
}

TEST_F(CsvSource, refuses_two_columns_of_one_name) {
  EXPECT_THAT(refusal(options("path,sick, sick\na.png,1,0\n")),
              HasSubstr("labels.csv: expected one column of each name, got two named \"sick\"; try renaming"));
  EXPECT_THAT(refusal(options("path,sick,Split,split\na.png,1,train,test\n")),
              HasSubstr("expected one column \"Split\", in upper or lower case, got a second one, \"split\""));
  EXPECT_THAT(refusal(options("path,sick,Path\na.png,1,b.png\n")), HasSubstr("got a second one, \"Path\""));
  EXPECT_EQ(load_dataset(options("path,sick,,\na.png,1,0,\n")).samples.size(), 1U) << "names may be empty";
}

TEST_F(CsvSource, refuses_a_header_that_is_no_utf8) {
  EXPECT_THAT(refusal(options("path,sick,f\xFC\x72\na.png,1,0\n")),
              HasSubstr("labels.csv, name of column 3: expected text in UTF-8"));
  EXPECT_EQ(load_dataset(options("path,sick,f\xC3\xBCr\na.png,1,0\n")).samples.size(), 1U);
}

TEST_F(CsvSource, refuses_a_policy_for_a_label_that_is_not_there) {
  auto wanted = options("path,sick\na.png,1\n");
  wanted.label_policies = {{"sikc", {}}};
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(wanted)); }), HasSubstr("sikc"));
}

TEST_F(CsvSource, refuses_absent_images_with_count_and_names) {
  EXPECT_THAT(refusal(options("path,sick\na.png,1\nx.png,0\ny.png,1\n")),
              testing::AllOf(HasSubstr("2 of 3 missing (x.png, y.png)"), HasSubstr("data.absent")));
}

TEST_F(CsvSource, skips_absent_images_when_told_and_says_so) {
  auto wanted = options("path,sick\na.png,1\nx.png,0\n");
  wanted.absent = Absent::Skip;
  const auto dataset = load_dataset(wanted);
  EXPECT_EQ(dataset.samples.size(), 1U);
  EXPECT_THAT(dataset.notes, testing::Contains("missing images, skipped: 1 of 2"))
      << "an image's name can hold a patient's number";
}

TEST_F(CsvSource, refuses_when_every_image_is_absent_even_then) {
  auto wanted = options("path,sick\nx.png,1\n");
  wanted.absent = Absent::Skip;
  EXPECT_THAT(refusal(wanted), HasSubstr("1 of 1 missing"));
}

TEST_F(CsvSource, refuses_a_folder_in_place_of_an_image_whatever_is_told_of_absent_ones) {
  std::filesystem::create_directories(folder_.path() / "z.png");
  auto wanted = options("path,sick\nz.png,1\na.png,1\n");
  wanted.absent = Absent::Skip;
  EXPECT_THAT(refusal(wanted), HasSubstr("z.png: expected an image file, got a folder"));
}

TEST_F(CsvSource, refuses_repeated_rows_unless_told) {
  auto wanted = options("path,sick\na.png,1\na.png,0\n");
  EXPECT_THAT(refusal(wanted), HasSubstr("1 repeated (a.png)"));
  wanted.duplicates = Duplicates::First;
  EXPECT_THAT(column(load_dataset(wanted), 0), ElementsAre(1));
  wanted = options("path,sick\na.png,1\na.png,\na.png,1\n");
  EXPECT_THAT(refusal(wanted), testing::Not(HasSubstr("contradict"))) << "nothing known, and the same";
  wanted.duplicates = Duplicates::First;
  EXPECT_THAT(load_dataset(wanted).notes, testing::Contains("repeated rows, the first is kept: 2"));
}

TEST_F(CsvSource, counts_repeated_rows_that_contradict_the_first) {
  auto wanted = options("path,sick\na.png,1\nb.png,0\na.png,0\nb.png,0\n");
  EXPECT_THAT(refusal(wanted), HasSubstr("labels.csv: expected one row for each image, got 2 repeated (a.png, b.png), "
                                         "1 with labels that contradict the first row's (a.png); try correcting"));
  wanted.duplicates = Duplicates::First;
  EXPECT_THAT(load_dataset(wanted).notes,
              testing::Contains("repeated rows, the first is kept: 2; labels of 1 of them contradict the first row's"));
}

TEST_F(CsvSource, names_the_tables_that_name_one_image) {
  folder_.write("reader1.csv", "path,sick\na.png,1\n");
  folder_.write("reader2.csv", "path,sick\na.png,0\n");
  const SourceOptions wanted{.root = folder_.path(), .labels = {"sick"}, .split = {.mode = SplitMode::Whole}};
  EXPECT_THAT(refusal(wanted),
              testing::AllOf(HasSubstr("reader1.csv, reader2.csv, read as one table: expected one row for each image"),
                             HasSubstr("; try --set data.csv=reader1.csv to read one table alone, or correcting")));
}

TEST_F(CsvSource, finds_images_without_their_folders_and_with_backslashes) {
  folder_.write("im/x/1.png", "");
  folder_.write("im/x/2.png", "");
  folder_.write("im/y/2.png", "");
  const auto dataset = load_dataset(options("path,sick\n1,1\nim\\y\\2.png,0\n./x/2.png,1\n"));
  ASSERT_EQ(dataset.samples.size(), 3U);
  EXPECT_EQ(dataset.samples[0].path, folder_.path() / "im/x/1.png");
  EXPECT_EQ(dataset.samples[1].path, folder_.path() / "im/y/2.png");
  EXPECT_EQ(dataset.samples[1].id, "im\\y\\2.png") << "as the table writes it";
  EXPECT_EQ(dataset.samples[2].path, folder_.path() / "im/x/2.png");
  EXPECT_THAT(dataset.notes, testing::Contains("rows with an image name without its folder: 2"));
  EXPECT_THAT(refusal(options("path,sick\n2.png,1\n")),
              HasSubstr("[data.csv] 2.png: expected one file of that name in the data folder, got im/x/2.png, "
                        "im/y/2.png; try writing its folder in the table"));
  EXPECT_THAT(refusal(options("path,sick\nz/1.png,1\n")), HasSubstr("1 of 1 missing")) << "another folder";
}

TEST_F(CsvSource, refuses_a_named_table_that_is_not_there_or_names_no_images) {
  auto wanted = options("path,sick\na.png,1\n");
  wanted.csv = {"nix.csv"};
  EXPECT_THAT(
      refusal(wanted),
      HasSubstr("nix.csv: expected a table, got no such file; try one of the tables in this folder: labels.csv"));
  folder_.write("mine.csv", "img,sick\na.png,1\n");
  wanted.csv = {"mine.csv"};
  EXPECT_THAT(refusal(wanted), HasSubstr("[data.csv] mine.csv: expected a column of image files, named path, got only "
                                         "the columns img, sick; try --set data.image=COLUMN"));
  wanted.csv.clear();
  std::filesystem::remove(folder_.path() / "labels.csv");
  EXPECT_THAT(refusal(wanted), HasSubstr("[data.csv] mine.csv: expected a column of image files, named path, got"));
}

TEST_F(CsvSource, refuses_an_empty_table) { EXPECT_THAT(refusal(options("")), HasSubstr("labels.csv")); }

TEST_F(CsvSource, refuses_a_header_without_rows) {
  EXPECT_THAT(refusal(options("path,sick\n")), HasSubstr("only a header"));
}

TEST_F(CsvSource, refuses_a_value_that_is_no_label_with_its_line) {
  EXPECT_THAT(refusal(options("path,sick\na.png,1\nb.png,maybe\n")),
              testing::AllOf(HasSubstr("labels.csv line 3"), HasSubstr("\"maybe\""), HasSubstr("sick:maybe")));
}

TEST_F(CsvSource, refuses_ragged_rows_with_their_line) {
  EXPECT_THAT(refusal(options("path,sick\na.png,1,2\n")), HasSubstr("labels.csv line 2: expected 2 fields, got 3"));
}

TEST_F(CsvSource, refuses_an_unknown_split_with_its_line) {
  auto wanted = options("path,split,sick\na.png,trian,1\n");
  wanted.split.mode = SplitMode::Given;
  EXPECT_THAT(refusal(wanted), HasSubstr("line 2"));
}

TEST_F(CsvSource, refuses_a_label_that_is_known_nowhere) {
  EXPECT_THAT(refusal(options("path,sick\na.png,\nb.png,-1\n")), HasSubstr("2 unknown"));
}

TEST(Dataset, names_what_every_source_looked_for) {
  const TestFolder folder;
  SourceOptions options;
  options.root = folder.path();
  const auto message = message_of<DataError>([&] { static_cast<void>(load_dataset(options)); });
  EXPECT_THAT(message,
              testing::AllOf(HasSubstr("nih (a csv with"), HasSubstr("csv (labels.csv, or another table, with")));
}

TEST(Dataset, refuses_a_root_that_is_absent_or_a_file) {
  const TestFolder folder;
  SourceOptions options;
  options.root = folder.path() / "none";
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(load_dataset(options)); }),
              HasSubstr("/none: no such folder"));
  options.root = folder.write("file", "x");
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(load_dataset(options)); }),
              HasSubstr("/file: not a folder"));
}

TEST(Dataset, refuses_an_unknown_source) {
  const TestFolder folder;
  SourceOptions options;
  options.root = folder.path();
  options.source = "cifar";
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(options)); }),
              HasSubstr("auto, nih, chexpert, mimic, padchest, csv, tfrecord"));
}

}  // namespace
}  // namespace roentgen::data
