// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/image_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/codec/dicom_testing.h"
#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class ImageListTest : public testing::Test {
 protected:
  [[nodiscard]] std::string in(const char* name) const { return (folder_.path() / name).string(); }
  void write(const char* name) const {
    fs::create_directories((folder_.path() / name).parent_path());
    folder_.write(name, "x");
  }
  static std::vector<std::string> names(const ImageList& list) {
    std::vector<std::string> all;
    for (const Sample& sample : list.dataset.samples) all.push_back(sample.id);
    return all;
  }
  static std::string refusal(const std::vector<std::string>& arguments) {
    try {
      static_cast<void>(list_images(arguments));
    } catch (const DataError& error) {
      return error.what();
    }
    return "nothing";
  }
  TestFolder folder_;
};

TEST_F(ImageListTest, walks_folders_by_name_and_counts_what_it_leaves_out) {
  write("d/b.PNG");
  write("d/a/2.jpg");
  write("d/a/1.jpeg");
  write("d/notes.txt");
  write("d/.hidden.png");
  write("x.dcm");
  const ImageList list = list_images({in("d"), in("x.dcm")});
  EXPECT_THAT(names(list), ElementsAre("a/1.jpeg", "a/2.jpg", "b.PNG", "x.dcm"));
  EXPECT_THAT(list.left_out.notes("no images"),
              ElementsAre("files left out, no images: .txt 1", HasSubstr("begin with a dot: 1")));
  EXPECT_EQ(list.dataset.samples[0].path, fs::path(in("d/a/1.jpeg")));
  EXPECT_TRUE(list.dataset.samples[0].labels.empty());
}

TEST_F(ImageListTest, chooses_among_dicom_files_of_a_folder_but_not_among_files_that_are_named) {
  if (!dicom_support().is_built) GTEST_SKIP() << "NO DICOM, NOTHING TESTED: " << dicom_support().text;
  const std::string frontal = encode_test_dicom({});
  const std::string lateral = encode_test_dicom({.elements = {{0x00185101, text_element("CS", "LL")}}});
  folder_.write("d/IM0001", frontal);
  folder_.write("d/IM0002", lateral);
  folder_.write("d/IM0003.dcm", lateral);
  folder_.write("d/damaged.dcm", frontal.substr(0, 200));
  ImageList list = list_images({in("d")});
  EXPECT_THAT(names(list), ElementsAre("IM0001", "damaged.dcm")) << "what is damaged is for the prediction to name";
  EXPECT_EQ(exclusions_text(list.dicom), "left out, laterals: 2");
  EXPECT_TRUE(list.left_out.files.is_empty());
  EXPECT_THAT(names(list_images({in("d/IM0002")})), ElementsAre("IM0002"));
  folder_.write("e/1.dcm", lateral);
  EXPECT_THAT(refusal({in("e")}), HasSubstr("got DICOM files left out, laterals: 1"));
}

TEST_F(ImageListTest, walks_a_folder_that_links_to_itself_once) {
  write("d/1.png");
  fs::create_directory_symlink(in("d"), in("d/loop"));
  EXPECT_THAT(names(list_images({in("d")})), ElementsAre("1.png"));
}

TEST_F(ImageListTest, passes_over_masks_and_pairs_that_are_not_named) {
  write("d/images/1.png");
  write("d/masks/Mass/1.png");
  write("d/pairs/Mass/1.png");
  const ImageList list = list_images({in("d")});
  EXPECT_THAT(names(list), ElementsAre("images/1.png"));
  EXPECT_EQ(list.left_out.companions, 2);
  EXPECT_THAT(names(list_images({in("d/pairs")})), ElementsAre("Mass/1.png"));
  write("e/masks/1.png");
  EXPECT_THAT(refusal({in("e")}), HasSubstr("got only folders called masks or pairs, which are ignored"));
}

TEST_F(ImageListTest, tells_images_of_one_name_apart_by_their_paths) {
  write("a/1.png");
  write("b/1.png");
  EXPECT_THAT(names(list_images({in("a"), in("b")})), ElementsAre(in("a/1.png"), in("b/1.png")));
}

TEST_F(ImageListTest, counts_a_folder_of_classes_as_its_reader_does) {
  for (const char* name : {"d/train/a/1.png", "d/train/b/2.png", "d/val/a/3.png", "d/val/b/4.png", "d/masks/1.png",
                           "d/.dot/1.png", "d/README.md"}) {
    write(name);
  }
  const auto lines = [&] {
    const ImageList list = list_images({in("d")});
    std::vector<std::string> all = list.left_out.notes("not images by their file extensions");
    for (const auto& notes : {class_folder_notes(list, {}), list.notes}) {
      all.insert(all.end(), notes.begin(), notes.end());
    }
    return all;
  };
  SourceOptions options{.root = in("d")};
  options.split.unit = SplitUnit::Image;
  std::vector<std::string> read = load_dataset(options).notes;
  read.pop_back();  // removes the note with the table's hash
  EXPECT_EQ(lines(), read);
  EXPECT_EQ(read.size(), 3U);
  write("d/extra/5.png");
  fs::create_directory_symlink("val", in("d/test"));
  fs::create_hard_link(in("d/train/a/1.png"), in("d/val/a/1.png"));
  EXPECT_THAT(lines(), testing::IsSupersetOf({HasSubstr("ignored: 1 (val, which is test)"),
                                              HasSubstr("6 images taken here; inspect, train and eval take only the 5"),
                                              HasSubstr("files listed more than once because of links: 1")}));
}

TEST_F(ImageListTest, counts_a_folder_of_classes_as_the_recipes_source_does) {
  for (const char* name : {"d/train/a/1.png", "d/train/b/deep/2.png", "d/test/a/3.png", "d/5.png", "d/extra/6.png"}) {
    write(name);
  }
  const ImageList list = list_images({in("d")});
  SourceOptions recipe{.source = "class_folders", .labels = {"a", "b"}};
  EXPECT_THAT(class_folder_notes(list, recipe), ElementsAre(HasSubstr("5 images taken here; inspect, train and eval "
                                                                      "take only the 3 in class folders")));
  EXPECT_THAT(class_folder_notes(list, {}), ElementsAre()) << "auto reads no such folder";
  recipe.labels = {"Mass"};
  EXPECT_THAT(class_folder_notes(list, recipe), ElementsAre()) << "folders that are none of the model's classes";
}

TEST_F(ImageListTest, lists_or_counts_every_file_of_a_folder) {
  for (const char* name : {"d/1.png", "d/2.JPEG", "d/3.jpe", "d/4.png~", "d/._5.png", "d/e/f/g/h/6.png", "d/Thumbs.db",
                           "d/\xff.png", "d/7.png/8.jpg", "d/.i/9.png", "d/masks/10.png"}) {
    write(name);
  }
  fs::create_symlink(in("gone"), in("d/11.png"));
  const ImageList list = list_images({in("d")});
  EXPECT_EQ(list.dataset.samples.size(), 5U);
  EXPECT_EQ(list.left_out.files.total() + list.left_out.hidden + list.left_out.companion_images +
                std::ssize(list.left_out.dangling),
            7);
  EXPECT_EQ(list.left_out.image_folders.size(), 1U);
}

TEST_F(ImageListTest, refuses_what_holds_no_images) {
  write("d/notes.txt");
  fs::create_directory(in("e"));
  fs::create_symlink(in("gone"), in("link.png"));
  EXPECT_THAT(refusal({in("none.png")}),
              HasSubstr("none.png: expected PNG, JPEG or DICOM files, or a folder of them, got "
                        "no such file; try checking the path"));
  EXPECT_THAT(refusal({in("link.png")}), HasSubstr("got a broken link"));
  EXPECT_THAT(refusal({in("d")}), HasSubstr("in this folder, got 1 other"));
  EXPECT_THAT(refusal({in("e")}), HasSubstr("got no files"));
}

TEST_F(ImageListTest, refuses_an_image_that_comes_twice) {
  write("1.png");
  EXPECT_THAT(refusal({in("1.png"), in("1.png")}), HasSubstr("1.png: expected each image once, got this one twice"));
}

}  // namespace
}  // namespace roentgen::data
