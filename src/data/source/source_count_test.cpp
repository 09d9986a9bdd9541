// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// No dataset reader of tables or folders drops an image silently: each image is used, or a note counts it as left out.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <ostream>

#include "data/codec/dicom_study.h"
#include "data/codec/dicom_testing.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

/// A data set for one dataset reader.
struct Given {
  std::string source;
  /// Number of image files in the folder, with or without an image extension.
  std::int64_t images = 0;
  std::function<void(const TestFolder&)> make;
  friend void PrintTo(const Given& given, std::ostream* out) { *out << given.source; }
};

void write_all(const TestFolder& folder, const std::vector<const char*>& names) {
  for (const char* name : names) folder.write(name, "x");
}

// Sum of the numbers of files in notes about unused images.
std::int64_t counted_as_left_out(const std::vector<std::string>& notes) {
  std::int64_t sum = 0;
  for (const std::string& note : notes) {
    if (note.find("masks or pairs") != std::string::npos) {  // gives the number of folders, then of images
      sum += std::strtoll(note.c_str() + note.rfind(' '), nullptr, 10);
      continue;
    }
    const bool is_of_images = note.find("left out") != std::string::npos ||
                              note.find("not in the table") != std::string::npos ||
                              note.find("skipped") != std::string::npos;
    if (!is_of_images) continue;
    // Adds all numbers after the colon, as in ".bmp 2, .gif 1".
    for (std::size_t i = note.find(": "); i < note.size(); ++i) {
      if (note[i] != ' ') continue;
      sum += std::strtoll(note.c_str() + i, nullptr, 10);
    }
  }
  return sum;
}

const std::vector<Given>& all_given() {
  static const std::vector<Given> given{
      {"nih", 4,
       [](const TestFolder& folder) {
         write_all(folder, {"x/00000001_000.png", "y/00000002_000.png", "y/00000003_000.png", "z/00000004_000.jpg"});
         folder.write("Data_Entry_2017.csv",
                      "Image Index,Finding Labels,Patient ID\n00000001_000.png,Mass,1\n00000002_000.png,Hernia,2\n");
       }},
      {"chexpert", 3,
       [](const TestFolder& folder) {
         write_all(folder, {"train/patient1/study1/view1_frontal.jpg", "train/patient1/study1/view2_lateral.jpg",
                            "train/patient2/study1/view1_frontal.jpg"});
         folder.write("train.csv",
                      "Path,Sex,Age,Frontal/Lateral,AP/PA,No Finding,Edema\n"
                      "CheXpert-v1.0/train/patient1/study1/view1_frontal.jpg,F,60,Frontal,PA,,1\n"
                      "CheXpert-v1.0/train/patient2/study1/view1_frontal.jpg,F,60,Frontal,PA,,0\n");
       }},
      {"mimic", 4,
       [](const TestFolder& folder) {
         write_all(folder, {"files/p10/p10000032/s50414267/aaa.jpg", "files/p10/p10000032/s53189527/bbb.jpg",
                            "files/p10/p10000032/s53189527/ccc.JPG", "ddd.jpg"});
         folder.write("mimic-cxr-2.0.0-metadata.csv",
                      "dicom_id,subject_id,study_id,ViewPosition\naaa,10000032,50414267,PA\nbbb,10000032,53189527,PA\n"
                      "ddd,10000032,53189528,PA\n");
         folder.write("mimic-cxr-2.0.0-chexpert.csv",
                      "subject_id,study_id,Edema\n10000032,50414267,1.0\n10000032,53189527,0.0\n");
       }},
      {"padchest", 3,
       [](const TestFolder& folder) {
         write_all(folder, {"1.png", "2.png", "3.png"});
         folder.write("PADCHEST_a.csv",
                      "ImageID,ImageDir,PatientID,Labels\n1.png,0,1,['pleural effusion']\n2.png,0,2,['normal']\n");
       }},
      {"csv", 4,
       [](const TestFolder& folder) {
         write_all(folder, {"im/1.png", "im/2.jpg", "im/3.PNG", "im/4.dcm"});
         folder.write("labels.csv", "path,patient,Effusion\nim/1.png,1,1\nim/2.jpg,2,0\n");
       }},
      {"class_folders", 18,
       [](const TestFolder& folder) {
         write_all(folder,
                   {"train/Effusion/1.png", "train/b/2.JPG", "train/b/deep/3.png", "train/b/4.bmp", "train/b/5.gif",
                    "train/b/6", "train/b/.7.png", "val/Effusion/8.png", "val/b/9.jpeg", "val/10.png", "test.png",
                    "masks/1.png", ".dot/1.png", "extra/1.png", "train/b/x.jpe", "train/b/y.png~", "train/b/._x.png"});
         std::filesystem::create_directories(folder.path() / "val/b/empty.png");
         std::filesystem::create_symlink("/nowhere", folder.path() / "val/b/11.png");
       }},
      {"dicom", 3, [](const TestFolder& folder) {
         const std::string head = std::string(128, '\0') + "DICM";
         write_all(folder, {"a/1.png"});
         folder.write("b/2.dcm", head);
         folder.write("b/3", head);
       }}};
  return given;
}

class SourceCounts : public testing::TestWithParam<Given> {};

TEST_P(SourceCounts, of_images_given_is_that_of_images_used_and_of_those_named_as_left_out) {
  const TestFolder folder;
  GetParam().make(folder);
  SourceOptions options{.root = folder.path(), .source = GetParam().source, .absent = Absent::Skip};
  options.split.mode = SplitMode::Whole;
  if (options.source == "chexpert" || options.source == "mimic") options.labels = {"Edema"};
  if (options.source == "csv" || options.source == "class_folders") options.labels = {"Effusion"};
  std::int64_t used = 0, left_out = 0;
  try {
    const Dataset dataset = load_dataset(options);
    used = std::ssize(dataset.samples);
    left_out = counted_as_left_out(dataset.notes);
    for (const std::string& note : dataset.notes) SCOPED_TRACE(note);
  } catch (const std::exception& error) {
    const std::string text = error.what();
    ASSERT_EQ(options.source, "dicom") << text;
    EXPECT_NE(text.find("left out, unreadable: 2"), std::string::npos) << text;
    return;
  }
  EXPECT_EQ(used + left_out, GetParam().images) << used << " used, " << left_out << " named as left out";
}

TEST(SourceCount, of_several_data_sets_as_one_is_the_sum_of_theirs) {
  const TestFolder csv, classes;
  SourceOptions options{.absent = Absent::Skip};
  options.split.mode = SplitMode::Whole;
  std::int64_t given = 0;
  for (const Given& one : all_given()) {
    const bool is_csv = one.source == "csv";
    if (!is_csv && one.source != "class_folders") continue;
    const TestFolder& folder = is_csv ? csv : classes;
    one.make(folder);
    SourceOptions source{.root = folder.path(), .source = one.source, .labels = {"Effusion"}, .absent = Absent::Skip};
    source.name = one.source;
    source.split = options.split;
    options.sources.push_back(source);
    given += one.images;
  }
  options.labels = {"Effusion"};
  const Dataset dataset = load_dataset(options);
  std::int64_t left_out = 0;
  for (std::string note : dataset.notes) {
    const std::size_t name = note.find(": ");  // the name of the data set precedes its notes
    if (note.starts_with("csv: ") || note.starts_with("class_folders: ")) note.erase(0, name + 2);
    left_out += counted_as_left_out({note});
  }
  EXPECT_EQ(std::ssize(dataset.samples) + left_out, given) << testing::PrintToString(dataset.notes);
}

TEST(SourceCount, of_dicom_files_is_that_of_the_frontals_and_of_those_left_out) {
  if (!dicom_support().is_built) GTEST_SKIP() << "NO DICOM, NOTHING TESTED: " << dicom_support().text;
  const TestFolder folder;
  const std::string frontal = encode_test_dicom({});
  folder.write("a/1.dcm", frontal);
  folder.write("a/2", frontal);
  folder.write("b/3.DCM", encode_test_dicom({.elements = {{0x00185101, text_element("CS", "LL")}}}));
  folder.write("b/4.dcm", frontal.substr(0, 200));
  write_all(folder, {"b/5.png", "c/6.dcm", ".d/7.dcm", "masks/8.png"});
  const Dataset dataset = load_dataset({.root = folder.path()});
  EXPECT_EQ(std::ssize(dataset.samples), 2);
  EXPECT_EQ(2 + counted_as_left_out(dataset.notes), 8) << testing::PrintToString(dataset.notes);
}

INSTANTIATE_TEST_SUITE_P(Sources, SourceCounts, testing::ValuesIn(all_given()),
                         [](const auto& one) { return one.param.source; });

}  // namespace
}  // namespace roentgen::data
