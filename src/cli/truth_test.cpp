// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/truth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/study.h"
#include "core/error.h"
#include "data/source/source_testing.h"
#include "eval/predictions.h"

namespace roentgen::cli {
namespace {

using data::message_of;
using data::TestFolder;
using eval::kUnknown;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kImage = "CheXpert-v1.0/valid/patient7/study2/view1_frontal.jpg";

/// Two images of CheXpert's validation part.
struct Chexpert {
  TestFolder folder{};
  std::filesystem::path table{};
  Chexpert() {
    const std::string second = "CheXpert-v1.0/valid/patient8/study1/view1_frontal.jpg";
    table = folder.write("valid.csv", "Path,Sex,Age,Frontal/Lateral,AP/PA,No Finding,Edema,Pleural Effusion\n" +
                                          std::string(kImage) + ",Female,68,Frontal,AP,1.0,,\n" + second +
                                          ",Male,60,Frontal,PA,,-1.0,1.0\n");
    folder.write("valid/patient7/study2/view1_frontal.jpg", "");
    folder.write("valid/patient8/study1/view1_frontal.jpg", "");
  }
};

TEST(Truth, of_a_folder_is_what_its_source_says) {
  const Chexpert set;
  data::SourceOptions options{.policy = {.uncertain = data::Uncertain::One}};
  options.label_policies = {{"Effusion", {}}, {"Fracture", {}}};  // of a label that the predictions lack
  options.csv = {"valid.csv"};
  for (const std::filesystem::path& path : {set.folder.path(), set.folder.path() / ""}) {
    const LabelTable table = read_truth(path, {"Effusion", "Edema"}, options);
    EXPECT_EQ(table.what, set.folder.path().filename().string());
    ASSERT_EQ(table.files.size(), 1U);
    EXPECT_EQ(table.files[0].name, "valid.csv");
    const LabelRow* first = table.find(kImage);
    ASSERT_NE(first, nullptr);
    EXPECT_THAT(first->labels, ElementsAre(0, 0)) << "blank where No Finding is 1";
    EXPECT_EQ(first->patient, "7");
    EXPECT_EQ(first->study, "CheXpert-v1.0/valid/patient7/study2");
    EXPECT_EQ(first->view, "AP");
    EXPECT_EQ(first->sex, "F");
    EXPECT_EQ(first->age_years, 68.0F);
    EXPECT_THAT(table.rows[1].labels, ElementsAre(1, 1));
    EXPECT_EQ(table.find("valid/patient8/study1/view1_frontal.jpg"), &table.rows[1]);
    EXPECT_EQ(table.find("view1_frontal.jpg"), nullptr);
  }
}

TEST(Truth, of_a_data_sets_table_is_read_with_its_folder) {
  const Chexpert set;
  const LabelTable table = read_truth(set.table, {"Edema"}, {});
  EXPECT_EQ(table.what, "valid.csv");
  EXPECT_THAT(table.rows[0].labels, ElementsAre(0));
  EXPECT_THAT(table.rows[1].labels, ElementsAre(kUnknown));
}

TEST(Truth, of_a_table_of_its_own_is_read_alone) {
  const Chexpert set;
  // As if the recipe read it by its own columns.
  const LabelTable own = read_truth(set.table, {"Edema"}, {.source = "csv"});
  EXPECT_THAT(own.rows[0].labels, ElementsAre(kUnknown));
  const auto path = set.folder.write("mine.csv", "image,subject_id,study_id,Edema\nnowhere.png,1,2,1\n");
  EXPECT_EQ(read_truth(path, {"Edema"}, {}).rows[0].study, "1/2");
}

TEST(Truth, refuses_what_the_folder_does_not_know) {
  const Chexpert set;
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(read_truth(set.folder.path(), {"Hernia"}, {})); }),
              AllOf(HasSubstr("Hernia"), HasSubstr("try labels that have what the predictions name")));
  const TestFolder other;
  const auto alone =
      other.write("valid.csv", "Path,Frontal/Lateral,Edema\nCheXpert-v1.0/valid/patient7/study2/a.jpg,,1\n");
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(read_truth(alone, {"Edema"}, {})); }),
              AllOf(HasSubstr("valid.csv: expected every image it names below "),
                    HasSubstr("try the data folder, with its images, as --labels")));
}

TEST(Truth, takes_keys_of_data_alone) {
  const std::vector<std::string> negative{"data.blank=negative"};
  EXPECT_EQ(data_options(negative).policy.blank, data::Blank::Negative);
  for (const std::string key : {"train.epochs=1", "data.labels=[\"a\"]"}) {
    EXPECT_THAT(message_of<ConfigError>([&] { check_data_overrides(std::vector{key}); }),
                HasSubstr("--set " + key + ": expected a key of [data] other than labels"));
  }
}

TEST(Studies, come_from_a_column_or_else_from_folders) {
  const TestFolder folder;
  data::Dataset dataset;
  dataset.samples = {{.id = "a.png", .patient = "p"}, {.id = "b.png", .patient = "q"}, {.id = "c.png", .patient = "q"}};
  dataset.csv = {folder.write("list.txt", "a.png\n\"b.png\nc.png\n"),
                 folder.write("studies.csv", "study_id,Edema\n1,0\n"),
                 folder.write("padchest.csv", "ImageID,StudyID\na.png,s1\nb.png,\n")};
  EXPECT_THAT(studies_of(dataset), ElementsAre("p/s1", "", ""));
  dataset.csv.pop_back();
  dataset.samples = {{.id = "p10/p100/s500/x.jpg"}, {.id = "train/patient1/study2/view1.jpg"}, {.id = "stuff/y.jpg"}};
  EXPECT_THAT(studies_of(dataset), ElementsAre("p10/p100/s500", "train/patient1/study2", ""));
}

}  // namespace
}  // namespace roentgen::cli
