// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Folders that contain several kinds of data.
#include "data/source/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "data/source/tfrecord_testing.h"

namespace roentgen::data {
namespace {

class SeveralKinds : public TfRecord {};

TEST_F(SeveralKinds, of_data_in_a_folder_are_named) {
  const TestFolder folder;
  folder.write("train.tfrecord", dell(0) + dell(1));
  folder.write("NORMAL/1.png", "x");
  folder.write("NORMAL/2.PNG", "x");
  const Dataset dataset = load_dataset({.root = folder.path(), .split = {.mode = SplitMode::Whole}});
  EXPECT_EQ(dataset.source, "tfrecord");
  EXPECT_THAT(dataset.notes, testing::Contains("image files in this folder that are not read (.png 2)"));

  const TestFolder table;
  for (const char* name : {"im/1.png", "im/2.png", "COVID/1.png", "masks/1.png"}) table.write(name, "x");
  table.write("labels.csv", "path,sick\nim/1.png,1\n");
  const Dataset other = load_dataset({.root = table.path(), .labels = {"sick"}, .split = {.mode = SplitMode::Whole}});
  EXPECT_THAT(other.notes,
              testing::IsSupersetOf({std::string("image files that are not in the table: 2"),
                                     std::string("folders of images that are not in the table: COVID (1)")}));
}

TEST_F(SeveralKinds, of_spelling_a_patient_are_one_in_records_too) {
  std::string records;
  for (const auto& [patient, name] : {std::pair{"12.0", "a.png"}, {"12", "b.png"}, {"nan", "00000013_005.png"}}) {
    io::ExampleWriter example;
    example.text("image/encoded", image(0));
    example.text("image/filename", name);
    example.text("image/patient", patient);
    example.texts("image/label_names", std::array<std::string, 1>{"x"});
    example.integer("image/label", 1);
    records += frame(example);
  }
  const TestFolder folder;
  folder.write("a.tfrecord", records);
  const Dataset dataset = load_dataset({.root = folder.path(), .split = {.mode = SplitMode::Whole}});
  EXPECT_EQ(dataset.samples[0].patient, "12");
  EXPECT_EQ(dataset.samples[1].patient, "12");
  EXPECT_EQ(dataset.samples[2].patient, "13") << "by the name, where the record names nobody";
}

}  // namespace
}  // namespace roentgen::data
