// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/truth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "data/source/source_testing.h"

namespace roentgen::score {
namespace {

using data::message_of;
using data::TestFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kImage = "CheXpert-v1.0/valid/patient7/study2/view1_frontal.jpg";

/// Data folder with two images of CheXpert's validation split.
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
  options.label_policies = {{"Effusion", {}}, {"Fracture", {}}};  // policy for a label that the predictions lack
  options.csv = {"valid.csv"};
  for (const std::filesystem::path& path : {set.folder.path(), set.folder.path() / ""}) {
    const Truth truth = read_truth(path, {"Effusion", "Edema"}, options);
    EXPECT_EQ(truth.what, set.folder.path().filename().string());
    ASSERT_EQ(truth.dataset.csv.size(), 1U);
    EXPECT_EQ(truth.dataset.csv[0].filename(), "valid.csv");
    const data::Sample* first = truth.find(kImage);
    ASSERT_NE(first, nullptr);
    EXPECT_THAT(first->labels, ElementsAre(0, 0)) << "blank where No Finding is 1";
    EXPECT_EQ(first->patient, "7");
    EXPECT_EQ(first->study, "CheXpert-v1.0/valid/patient7/study2");
    EXPECT_EQ(first->view, "AP");
    EXPECT_EQ(first->sex, "F");
    EXPECT_EQ(first->age_years, 68.0F);
    EXPECT_THAT(truth.dataset.samples[1].labels, ElementsAre(1, 1));
    EXPECT_EQ(truth.find("valid/patient8/study1/view1_frontal.jpg"), &truth.dataset.samples[1]);
    EXPECT_EQ(truth.find("view1_frontal.jpg"), nullptr);
  }
}

TEST(Truth, of_a_data_sets_table_is_read_with_its_folder) {
  const Chexpert set;
  const Truth truth = read_truth(set.table, {"Edema"}, {});
  EXPECT_EQ(truth.what, "valid.csv");
  EXPECT_THAT(truth.dataset.samples[0].labels, ElementsAre(0));
  EXPECT_TRUE(std::isnan(truth.dataset.samples[1].labels[0]));
}

TEST(Truth, of_a_table_of_its_own_is_read_alone) {
  const Chexpert set;
  // With source "csv", an uncertain label is unknown, and so is an empty cell next to No Finding.
  const Truth own = read_truth(set.table, {"Edema", "Pleural Effusion"}, {.source = "csv"});
  EXPECT_TRUE(std::isnan(own.dataset.samples[0].labels[0]));
  const auto path = set.folder.write("mine.csv", "image,subject_id,study_id,Edema\nnowhere.png,1,2,1\n");
  EXPECT_EQ(read_truth(path, {"Edema"}, {}).dataset.samples[0].study, "1/2");
  const auto nih = set.folder.write("nih.csv", "Image Index,Finding Labels\n00000001_000.png,Edema\n");
  for (const char* source : {"auto", "nih", "csv"}) {
    EXPECT_EQ(read_truth(nih, {"Edema"}, {.source = source}).dataset.source, "nih") << source;
  }
}

TEST(Truth, of_a_converted_table_knows_images_by_their_first_names_and_by_their_files) {
  const TestFolder folder;
  folder.write("convert.json", R"({"format": "png", "labels": ["Mass"]})");
  const auto table = folder.write("labels.csv", "path,id,Mass\nimages/1.png,a/1.dcm,1\nimages/2.png,a/2.dcm,0\n");
  const Truth truth = read_truth(table, {"Mass"}, {});
  for (const char* name : {"a/2.dcm", "2.dcm", "images/2.png", "2.png"}) {
    EXPECT_EQ(truth.find(name), &truth.dataset.samples.at(1)) << name;
  }
}

TEST(Truth, names_labels_as_the_predictions_do) {
  const TestFolder folder;
  const auto table = folder.write("nih.csv", "Image Index,Finding Labels\na.png,Effusion\nb.png,No Finding\n");
  const std::vector<std::string> labels{"Effusion", "Pleural Effusion", "Lung Opacity"};
  const Truth truth = read_truth(table, labels, {});
  EXPECT_EQ(truth.dataset.label_names, labels);
  EXPECT_THAT(data::absent_labels(truth.dataset), ElementsAre("Lung Opacity"));
  EXPECT_EQ(truth.dataset.samples.at(0).labels[1], 1.0F);
}

TEST(Truth, refuses_what_a_table_does_not_know) {
  const TestFolder folder;
  const auto refusal = [&folder](std::string_view table, const std::string& label) {
    const auto path = folder.write("table.csv", table);
    return message_of<DataError>([&] { static_cast<void>(read_truth(path, {label}, {})); });
  };
  EXPECT_THAT(refusal("path,Mass\na.png,1\n", "Nodule"),
              HasSubstr("table.csv: expected the label Nodule of the predictions, got no known label of this name"));
  EXPECT_THAT(refusal("Image Index,Finding Labels\na.png,Mass\n", "Fracture"),
              HasSubstr("the label Fracture of the predictions"));
  EXPECT_THAT(refusal("path,Mass\na.png,perhaps\n", "Mass"),
              AllOf(HasSubstr("table.csv line 2: expected 1, 0, -1"), HasSubstr("try correcting this line")));
}

TEST(Truth, refuses_what_the_folder_does_not_know) {
  const Chexpert set;
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(read_truth(set.folder.path(), {"Hernia"}, {})); }),
              AllOf(HasSubstr("Hernia"), HasSubstr("try a label table with this label")));
  const TestFolder other;
  const auto alone =
      other.write("valid.csv", "Path,Frontal/Lateral,Edema\nCheXpert-v1.0/valid/patient7/study2/a.jpg,,1\n");
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(read_truth(alone, {"Edema"}, {})); }),
              AllOf(HasSubstr("valid.csv: expected every image of the table or list in the folder "),
                    HasSubstr("try the data folder, with its images, as --labels")));
}

}  // namespace
}  // namespace roentgen::score
