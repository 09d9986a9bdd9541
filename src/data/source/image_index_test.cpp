// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/image_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(ImageIndex, finds_files_at_any_depth) {
  const TestFolder folder;
  folder.write("a.png", "");
  folder.write("x/y/z/b.PNG", "");
  const ImageIndex index({folder.path()});
  ASSERT_NE(index.find("b.PNG"), nullptr);
  EXPECT_EQ(*index.find("b.PNG"), folder.path() / "x/y/z/b.PNG");
  EXPECT_EQ(index.find("c.png"), nullptr);
  EXPECT_EQ(index.images(), 2);
}

TEST(ImageIndex, leaves_hidden_files_and_folders_out) {
  const TestFolder folder;
  folder.write(".cache/a.png", "");
  folder.write("._b.png", "");
  const ImageIndex index({folder.path()});
  EXPECT_EQ(index.images(), 0);
}

TEST(ImageIndex, leaves_out_masks_and_pairs_that_are_not_asked_for) {
  const TestFolder folder;
  folder.write("images/a.png", "");
  folder.write("masks/Mass/a.png", "");
  folder.write("pairs/Mass/a.png", "");
  const ImageIndex index({folder.path()});
  EXPECT_EQ(index.images(), 1);
  EXPECT_EQ(*index.find("a.png"), folder.path() / "images/a.png");
  EXPECT_EQ(*ImageIndex({folder.path() / "masks"}).find("a.png"), folder.path() / "masks/Mass/a.png");
}

TEST(ImageIndex, follows_links_and_survives_loops) {
  const TestFolder real, folder;
  real.write("a.png", "");
  fs::create_directory_symlink(real.path(), folder.path() / "link");
  fs::create_directory_symlink(folder.path(), folder.path() / "loop");
  const ImageIndex index({folder.path()});
  ASSERT_NE(index.find("a.png"), nullptr);
  EXPECT_EQ(index.second("a.png"), nullptr);
  EXPECT_EQ(index.images(), 1);
}

TEST(ImageIndex, keeps_the_first_of_two_and_shows_the_second) {
  const TestFolder folder;
  folder.write("p/a.png", "");
  folder.write("q/a.png", "");
  EXPECT_EQ(*ImageIndex({folder.path()}).find("a.png"), folder.path() / "p/a.png");
  const ImageIndex other({folder.path() / "q", folder.path() / "p"});
  EXPECT_EQ(*other.find("a.png"), folder.path() / "q/a.png");
  EXPECT_EQ(*other.second("a.png"), folder.path() / "p/a.png");
}

TEST(ImageIndex, takes_no_folder_for_an_image) {
  const TestFolder folder;
  fs::create_directory(folder.path() / "a.png");
  EXPECT_EQ(ImageIndex({folder.path()}).find("a.png"), nullptr);
}

TEST(ImageIndex, refuses_what_is_no_folder) {
  const TestFolder folder;
  const auto file = folder.write("f", "");
  EXPECT_THAT(message_of<DataError>([&] { const ImageIndex index({file}); }), HasSubstr("got a file"));
  EXPECT_THAT(message_of<DataError>([&] { const ImageIndex index({folder.path() / "none"}); }), HasSubstr("none"));
}

}  // namespace
}  // namespace roentgen::data
