// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/placed_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/source/dataset.h"
#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class PlacedRowsNotes : public testing::Test {
 protected:
  void write_all(const std::vector<const char*>& names) const {
    for (const char* name : names) folder_.write(name, "x");
  }
  [[nodiscard]] std::vector<std::string> notes(std::string_view table) const {
    folder_.write("labels.csv", table);
    return load_dataset({.root = folder_.path(), .labels = {"sick"}, .split = {.mode = SplitMode::Whole}}).notes;
  }
  const TestFolder folder_;
};

TEST_F(PlacedRowsNotes, count_every_image_below_the_data_folder_that_no_row_names) {
  write_all({"a.png", "b.PNG", "img/1.png", "img/2.png", "img/sub/deep/3.png", "other/x/4.png", "other/y/5.jpg",
             "img2/6.dcm", "img/notes.txt"});
  EXPECT_THAT(notes("path,sick\nimg/1.png,1\n./img/../b.PNG,1\n"),
              ElementsAre("image files that are not in the table: 6",
                          "folders of images that are not in the table: img2 (1), other (2)"));
}

TEST_F(PlacedRowsNotes, count_each_file_once_however_links_lead_to_it) {
  const TestFolder elsewhere;
  for (const char* name : {"1.png", "2.png", "3.png"}) elsewhere.write(name, "x");
  write_all({"b/1.png", "b/2.png"});
  fs::create_directory_symlink(folder_.path() / "b", folder_.path() / "a");
  fs::create_directory_symlink(elsewhere.path(), folder_.path() / "far");
  EXPECT_THAT(notes("path,sick\nb/1.png,1\nfar/1.png,1\n"), ElementsAre("image files that are not in the table: 3"));
}

TEST_F(PlacedRowsNotes, count_the_folders_elsewhere_that_rows_name) {
  const TestFolder elsewhere;
  for (const char* name : {"1.png", "2.png", ".3.png"}) elsewhere.write(name, "x");
  EXPECT_THAT(notes("path,sick\n" + (elsewhere.path() / "1.png").string() + ",1\n"),
              ElementsAre("image files that are not in the table: 1"));
}

TEST_F(PlacedRowsNotes, count_companions_and_hidden_files_apart_unless_a_row_names_them) {
  write_all({"1.png", "masks/1.png", "masks/2.png", ".thumbs/1.png", ".2.png", "pairs/1.png"});
  EXPECT_THAT(notes("path,sick\n1.png,1\npairs/1.png,1\nmasks/1.png,1\n.2.png,1\n"),
              ElementsAre("images left out, because their names or folders begin with a dot: 1",
                          "folders called masks or pairs, ignored: 2 (image files in them: 1)"));
  EXPECT_THAT(notes("path,sick\n1.png,1\npairs/1.png,1\nmasks/1.png,1\n.2.png,1\nmasks/2.png,1\n.thumbs/1.png,1\n"),
              ElementsAre());
}

}  // namespace
}  // namespace roentgen::data
