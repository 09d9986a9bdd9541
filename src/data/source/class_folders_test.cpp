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
  EXPECT_THAT(refusal(in(folder)), HasSubstr("expected one of these data sets: nih"));
  SourceOptions options = in(folder);
  options.source = "class_folders";
  EXPECT_EQ(load_dataset(options).samples.size(), 4U);
  options.labels = {"a"};
  EXPECT_THAT(load_dataset(options).samples[0].labels, ElementsAre(1.0F));
  options.labels = {"dog"};
  EXPECT_THAT(refusal(options), HasSubstr("dog: expected the name of a class folder, got a name other than a, b"));
  options.labels = {"a", "dog"};
  options.unknown_labels = UnknownLabels::Mask;
  options.split.mode = SplitMode::Whole;
  EXPECT_THAT(absent_labels(load_dataset(options)), ElementsAre("dog"));
  options.csv = {"labels.csv"};
  EXPECT_THAT(refusal(options), HasSubstr("data.csv: expected no data.csv, because the folder names are the labels"));
}

TEST(ClassFolders, of_other_trees_are_no_classes) {
  for (const std::vector<const char*>& names :
       {std::vector{"images_001/1.png", "images_002/2.png"}, std::vector{"a/1.png", "b/1.png", "loose.png"},
        std::vector{"a/1.png", "masks/1.png"},
        std::vector{"train/patient1/study1/1.jpg", "train/patient2/study1/1.jpg"}, std::vector{"only/1.png"}}) {
    const TestFolder folder;
    for (const char* name : names) folder.write(name, "x");
    EXPECT_THAT(refusal(in(folder)), HasSubstr("expected one of these data sets: nih")) << names.front();
  }
  const TestFolder folder;
  folder.write("a/1.txt", "x");
  folder.write("b/1.txt", "x");
  SourceOptions options = in(folder);
  options.source = "class_folders";
  EXPECT_THAT(refusal(options), HasSubstr("expected images in the class folders, got none"));
  std::filesystem::remove_all(folder.path() / "b");
  EXPECT_THAT(refusal(options), HasSubstr("expected at least two class folders, got 1"));
}

Dataset loaded(SourceOptions options, SplitMode mode = SplitMode::Whole) {
  options.source = "class_folders";
  options.split.mode = mode;
  options.split.unit = SplitUnit::Image;
  return load_dataset(options);
}

TEST(ClassFolders, count_what_they_leave_out_by_its_ending) {
  const TestFolder folder;
  for (const char* name : {"a/1.png", "b/1.PNG", "a/2.bmp", "b/2.bmp", "a/3.Tif", "a/noending", "a/4.png ", "a/._1.png",
                           "a/.thumb/1.png", "b/masks/1.png", "__MACOSX/a/._1.png", "__MACOSX/x.png"}) {
    folder.write(name, "x");
  }
  const Dataset dataset = loaded(in(folder));
  EXPECT_EQ(dataset.samples.size(), 2U);
  EXPECT_THAT(dataset.label_names, ElementsAre("a", "b"));
  EXPECT_THAT(dataset.notes,
              testing::IsSupersetOf(
                  {HasSubstr(R"(not images by their file extensions: ".png " 1, .bmp 2, .tif 1, no ending 1)"),
                   HasSubstr("begin with a dot: 2"), HasSubstr("masks or pairs, ignored: 1")}));
}

TEST(ClassFolders, pass_over_masks_and_archive_folders_in_any_case) {
  const TestFolder folder;
  for (const char* name : {"a/1.png", "b/1.png", "a/Masks/1.png", "a/masks/2.png", "b/MASKS/1.png", "b/Mask/1.png",
                           "a/x/mask/1.png", "b/Pairs/1.png", "a/__macosx/._1.png", "__MacOSX/a/2.png"}) {
    folder.write(name, "x");
  }
  const Dataset dataset = loaded(in(folder));
  EXPECT_EQ(dataset.samples.size(), 2U);
  EXPECT_THAT(dataset.label_names, ElementsAre("a", "b"));
  EXPECT_THAT(dataset.notes, testing::Contains(HasSubstr("ignored: 6 (image files in them: 6)")));
}

TEST(ClassFolders, refuse_splits_of_other_names) {
  const auto refused = [](const std::vector<const char*>& names) {
    const TestFolder folder;
    for (const char* name : names) folder.write(name, "x");
    SourceOptions options = in(folder);
    options.source = "class_folders";
    return refusal(options);
  };
  EXPECT_THAT(refused({"train_set/A/1.png", "train_set/B/1.png", "test_set/A/1.png", "test_set/B/1.png"}),
              HasSubstr("look like splits: test_set (test), train_set (train); try renaming them"));
  for (const auto& [one, other] :
       {std::pair{"train-set", "test-set"}, std::pair{"TrainData", "TestData"}, std::pair{"trn", "tst"},
        std::pair{"training_set", "testing_set"}, std::pair{"images train", "images validation"},
        std::pair{"TRAINDATA", "VALDATA"}, std::pair{"fold1", "fold2"}, std::pair{"01_train", "02_dev"}}) {
    const std::string first = std::string(one) + "/A/1.png", second = std::string(other) + "/1.png";
    EXPECT_THAT(refused({first.c_str(), second.c_str()}), HasSubstr("look like splits: ")) << one;
  }
  EXPECT_THAT(refused({"site 1/A/1.png", "site 1/B/1.png", "site 2/a/1.png", "site 2/B/c/1.png", "doc/x.txt"}),
              HasSubstr("got the same folders A, B in each of site 1, site 2; try renaming the outer folders to train, "
                        "val and test if they are splits"));
  EXPECT_THAT(refused({"train/A/x/1.png", "train/A/y/2.png", "val/B/x/1.png", "val/B/y/2.png"}),
              HasSubstr("got the same folders x, y in each of train/A, val/B; try moving the images"));
}

TEST(ClassFolders, keep_classes_whose_images_lie_below_them) {
  for (const std::vector<const char*>& names :
       {std::vector{"A/images/1.png", "A/masks/1.png", "B/images/2.png"},
        std::vector{"A/p1/1.png", "A/p2/2.png", "B/p1/3.png", "B/p3/4.png"},
        std::vector{"A/p1/1.png", "A/p2/2.png", "B/3.png", "B/p1/3.png", "B/p2/4.png"},
        std::vector{"test_positive/x/1.png", "test_negative/y/2.png"}}) {
    const TestFolder folder;
    for (const char* name : names) folder.write(name, "x");
    EXPECT_EQ(loaded(in(folder)).label_names.size(), 2U) << names.front();
  }
}

TEST(ClassFolders, refuse_links_that_lead_nowhere_unless_told) {
  const TestFolder folder;
  for (const char* name : {"a/1.png", "b/1.png"}) folder.write(name, "x");
  std::filesystem::create_symlink("/nowhere/2.png", folder.path() / "b/2.png");
  std::filesystem::create_symlink("/nowhere/c", folder.path() / "c");
  SourceOptions options = in(folder);
  EXPECT_THAT(refusal(options), HasSubstr("expected links whose targets exist, got 2 broken (c, b/2.png)"));
  options.absent = Absent::Skip;
  EXPECT_THAT(loaded(options).notes, testing::Contains("links left out: 2 broken"));
}

TEST(ClassFolders, below_splits_in_any_case_pass_over_other_folders_and_say_so) {
  const TestFolder folder;
  for (const char* name : {"Train/a/1.png", "Train/b/2.png", "VAL/a/3.png", "VAL/b/4.png", "Test/a/5.png",
                           "extra/6.png", "Test/7.png", "docs/readme.txt"}) {
    folder.write(name, "x");
  }
  const Dataset dataset = load_dataset(in(folder));
  EXPECT_THAT(dataset.label_names, ElementsAre("a", "b"));
  EXPECT_EQ(dataset.summary(Split::Train).images, 2);
  EXPECT_EQ(dataset.summary(Split::Val).images, 2);
  EXPECT_EQ(dataset.summary(Split::Test).images, 1);
  EXPECT_THAT(dataset.notes,
              testing::IsSupersetOf({HasSubstr("left out: docs (image files: 0), extra (image files: 1)"),
                                     HasSubstr("in no class folder, left out: 1")}));
}

TEST(ClassFolders, refuse_one_folder_called_as_a_split_among_others) {
  const TestFolder folder;
  for (const char* name : {"test/p1/1.png", "control/p2/2.png"}) folder.write(name, "x");
  SourceOptions options = in(folder);
  options.source = "class_folders";
  EXPECT_THAT(refusal(options),
              HasSubstr("got the split folder test next to other folders; try renaming it if it is a class"));
}

TEST(ClassFolders, refuse_a_folder_that_is_in_two_splits_or_classes_by_a_link) {
  const TestFolder folder;
  for (const char* name : {"train/a/1.png", "train/b/2.png", "val/a/3.png", "val/b/4.png"}) folder.write(name, "x");
  std::filesystem::create_directory_symlink("val", folder.path() / "test");
  EXPECT_THAT(refusal(in(folder)),
              HasSubstr("one class and one split, got val and test, which are the same folder because of a link"));
  const Dataset whole = loaded(in(folder));
  EXPECT_EQ(whole.samples.size(), 4U) << "where splits do not count";
  EXPECT_THAT(whole.notes, testing::Contains(HasSubstr("read anyway, ignored: 1 (val, which is test)")));
  std::filesystem::remove(folder.path() / "test");
  std::filesystem::create_directory_symlink("../a", folder.path() / "train/b/more");
  EXPECT_THAT(refusal(in(folder)),
              HasSubstr("got train/b/more and train/a, which are the same folder because of a link"));
}

TEST(ClassFolders, count_what_lies_in_the_root_as_what_lies_in_classes) {
  const TestFolder folder;
  for (const char* name :
       {"train/a/1.png", "train/b/2.png", "val/a/3.png", "val/b/4.png", "masks/1.png", "masks/2.png", ".dot/1.png",
        ".5.png", "README.md", "extra/6.png", "extra/notes.txt", "train/b/d.png/7.jpe", "train/pairs/8.png"}) {
    folder.write(name, "x");
  }
  std::filesystem::create_symlink("/nowhere", folder.path() / "extra/9.png");
  const Dataset dataset = load_dataset(in(folder));
  EXPECT_EQ(dataset.samples.size(), 4U);
  EXPECT_THAT(dataset.notes,
              testing::IsSupersetOf(
                  {HasSubstr("not images by their file extensions: .jpe 1, .md 1, .txt 1"),
                   HasSubstr("begin with a dot: 2"), HasSubstr("masks or pairs, ignored: 2 (image files in them: 3)"),
                   HasSubstr("folders whose names end like image files: 1"), HasSubstr("broken links, left out: 1"),
                   HasSubstr("left out: extra (image files: 1)")}));
}

TEST(ClassFolders, read_a_class_that_a_folder_beside_the_splits_is_a_link_to) {
  const TestFolder folder;
  for (const char* name : {"train/a/1.png", "train/b/2.png", "val/a/3.png", "val/b/4.png"}) folder.write(name, "x");
  std::filesystem::create_directory_symlink("train", folder.path() / "all");
  const Dataset dataset = load_dataset(in(folder));
  EXPECT_EQ(dataset.summary(Split::Train).images, 2);
  EXPECT_THAT(dataset.notes, testing::Contains(HasSubstr("read anyway, ignored: 1")));
}

TEST(ClassFolders, name_files_that_links_put_into_two_splits_or_classes) {
  const TestFolder folder;
  for (const char* name : {"train/a/1.png", "train/b/2.png", "val/a/3.png", "val/b/4.png", "test/a/5.png"}) {
    folder.write(name, "x");
  }
  std::filesystem::create_hard_link(folder.path() / "train/a/1.png", folder.path() / "test/a/1.png");
  std::filesystem::create_symlink("../../train/b/2.png", folder.path() / "test/a/2.png");
  std::filesystem::create_symlink("3.png", folder.path() / "val/a/again.png");
  const Dataset dataset = load_dataset(in(folder));
  EXPECT_EQ(dataset.samples.size(), 8U);
  EXPECT_THAT(dataset.notes, testing::IsSupersetOf({HasSubstr("which leaks test data: train and test 2"),
                                                    HasSubstr("labels because of links: 1")}));
}

}  // namespace
}  // namespace roentgen::data
