// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/obstacles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> obstacles_of(const TestFolder& folder) { return source_obstacles({.root = folder.path()}); }

TEST(Obstacles, tell_each_source_in_a_line_nearest_first) {
  const TestFolder folder;
  folder.write("labels.csv", "img,Finding Labels\n");
  folder.write("a/1.bmp", "x");
  const std::vector<std::string> lines = obstacles_of(folder);
  ASSERT_EQ(lines.size(), 12U);
  EXPECT_EQ(lines[0], "nih: labels.csv has no column Image Index (it has img, Finding Labels)");
  EXPECT_THAT(lines[1], StartsWith("csv: labels.csv has no column path or file or filename or image"));
  EXPECT_THAT(lines, testing::Contains("dicom: found no DICOM file"));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("tar: found no *.tar")));
  EXPECT_EQ(lines.back(), "files in it by extension: .bmp 1, .csv 1");
}

TEST(Obstacles, tell_why_a_table_is_no_csv) {
  using std::string_literals::operator""s;
  const TestFolder folder;
  folder.write("labels.csv", "p\0a\0t\0h\0\n\0"s);
  EXPECT_THAT(
      obstacles_of(folder),
      testing::Contains("csv: labels.csv is not a csv table: expected text in UTF-8, got UTF-16 without its byte order "
                        "mark; try saving it as UTF-8 csv"));
}

TEST(Obstacles, name_a_table_of_another_name) {
  const TestFolder folder;
  folder.write("mine.csv", "path,Mass\n");
  EXPECT_EQ(obstacles_of(folder)[0], "csv: mine.csv has its columns, but not all images of the table were found");
  const TestFolder other;
  other.write("my labels.csv", "ImageID,ImageDir,Labels\n");
  EXPECT_EQ(obstacles_of(other)[0],
            "padchest: my labels.csv has its columns, but is not called PADCHEST....csv; try --set "
            "data.source=padchest --set 'data.csv=my labels.csv'");
}

TEST(Obstacles, tell_what_is_wrong_with_folders_of_classes) {
  const TestFolder folder;
  folder.write("a/1.png", "x");
  EXPECT_EQ(obstacles_of(folder)[0], "class_folders: only one folder of images, a");
  folder.write("b/deep/1.png", "x");
  EXPECT_EQ(obstacles_of(folder)[0], "class_folders: no image file directly in b");
  std::filesystem::create_symlink("/nowhere", folder.path() / "c");
  EXPECT_EQ(obstacles_of(folder).back(), "broken links in it: 1");
  folder.write("loose.png", "x");
  EXPECT_EQ(obstacles_of(folder)[0], "class_folders: image files outside class folders (1)");
}

}  // namespace
}  // namespace roentgen::data
