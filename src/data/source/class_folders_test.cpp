// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SourceOptions in(const TestFolder& folder) {
  SourceOptions options;
  options.root = folder.path();
  options.split.unit = SplitUnit::Image;
  return options;
}
std::string refusal(const SourceOptions& options) {
  return message_of<Error>([&] { static_cast<void>(load_dataset(options)); });
}

TEST(ClassFolders, are_classes) {
  const TestFolder folder;
  for (const char* name :
       {"dog/1.jpg", "dog/2.JPEG", "cat/1.png", "emu/00000013_005.png", "cat/notes.txt", ".git/x.png"}) {
    folder.write(name, "x");
  }
  const Dataset dataset = load_dataset(in(folder));
  EXPECT_EQ(dataset.source, "class_folders");
  EXPECT_THAT(dataset.label_names, ElementsAre("cat", "dog", "emu"));
  ASSERT_EQ(dataset.samples.size(), 4U);
  EXPECT_EQ(dataset.samples[2].id, "dog/2.JPEG");
  EXPECT_THAT(dataset.samples[2].labels, ElementsAre(0.0F, 1.0F, 0.0F));
  EXPECT_EQ(dataset.samples[3].patient, "13");
}

TEST(ClassFolders, below_train_val_and_test_are_splits) {
  const TestFolder folder;
  for (const char* name : {"train/a/1.png", "train/b/2.png", "valid/a/3.png", "valid/b/4.png", "test/a/5.png"}) {
    folder.write(name, "x");
  }
  const Dataset dataset = load_dataset(in(folder));
  EXPECT_THAT(dataset.label_names, ElementsAre("a", "b"));
  EXPECT_EQ(dataset.summary(Split::Train).images, 2);
  EXPECT_EQ(dataset.summary(Split::Val).images, 2);
  EXPECT_EQ(dataset.summary(Split::Test).images, 1);
  EXPECT_EQ(dataset.split_origin.substr(0, 7), "folders");
}

TEST(ClassFolders, are_searched_below_when_asked_for) {
  const TestFolder folder;
  folder.write("a/deep/er/1.png", "x");
  folder.write("b/2.png", "x");
  folder.write("b/3.png", "x");
  folder.write("b/4.png", "x");
  std::filesystem::create_directory_symlink(folder.path() / "a", folder.path() / "a/deep/loop");
  EXPECT_THAT(refusal(in(folder)), HasSubstr("expected one of: nih"));
  SourceOptions options = in(folder);
  options.source = "class_folders";
  EXPECT_EQ(load_dataset(options).samples.size(), 4U);
  options.labels = {"a"};
  EXPECT_THAT(load_dataset(options).samples[0].labels, ElementsAre(1.0F));
  options.labels = {"dog"};
  EXPECT_THAT(refusal(options), HasSubstr("dog: expected the name of a class's folder, got a, b"));
  options.labels = {"a", "dog"};
  options.unknown_labels = UnknownLabels::Mask;
  options.split.mode = SplitMode::Whole;
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(load_dataset(options)); }),
              HasSubstr("dog: expected an image where it is known"));
  options.csv = {"labels.csv"};
  EXPECT_THAT(refusal(options), HasSubstr("data.csv: expected none, since folders are the labels"));
}

TEST(ClassFolders, of_other_trees_are_no_classes) {
  for (const std::vector<const char*>& names :
       {std::vector{"images_001/1.png", "images_002/2.png"}, std::vector{"a/1.png", "b/1.png", "loose.png"},
        std::vector{"a/1.png", "masks/1.png"},
        std::vector{"train/patient1/study1/1.jpg", "train/patient2/study1/1.jpg"}, std::vector{"only/1.png"}}) {
    const TestFolder folder;
    for (const char* name : names) folder.write(name, "x");
    EXPECT_THAT(refusal(in(folder)), HasSubstr("expected one of: nih")) << names.front();
  }
  const TestFolder folder;
  folder.write("a/1.txt", "x");
  folder.write("b/1.txt", "x");
  SourceOptions options = in(folder);
  options.source = "class_folders";
  EXPECT_THAT(refusal(options), HasSubstr("expected an image in the folders of classes, got none"));
  std::filesystem::remove_all(folder.path() / "b");
  EXPECT_THAT(refusal(options), HasSubstr("expected at least two folders, a class each, got 1"));
}

}  // namespace
}  // namespace roentgen::data
