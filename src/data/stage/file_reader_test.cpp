// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/file_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(FileReader, reads_files_one_after_the_other) {
  const TestFolder folder;
  FileReader reader;
  const std::string large(100000, 'x');
  for (const std::string& text : {std::string("abc"), large, std::string("d")}) {
    const auto path = folder.write("f", text);
    const auto bytes = reader.read(path, "f");
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(text_of(bytes.value()), text);
  }
}

TEST(FileReader, refuses_what_cannot_be_an_image_file) {
  const TestFolder folder;
  FileReader reader;
  EXPECT_THAT(reader.read(folder.path() / "none", "none").error(), HasSubstr("[data.read] none: "));
  EXPECT_THAT(reader.read(folder.path(), "dir").error(), HasSubstr("got a folder"));
  EXPECT_THAT(reader.read("/dev/zero", "zero").error(), HasSubstr("got a special file"));
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(reader.read(folder.path() / "pipe", "pipe").error(), HasSubstr("got a special file"));
  EXPECT_THAT(reader.read(folder.write("empty", ""), "empty").error(), HasSubstr("got an empty file"));
}

TEST(FileReader, refuses_beyond_its_limit_before_reading) {
  const TestFolder folder;
  const auto path = folder.write("f", "");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);  // sparse, so it needs no disk space
  FileReader reader;
  EXPECT_THAT(reader.read(path, "f").error(), HasSubstr("expected at most 1073741824 bytes"));
}

}  // namespace
}  // namespace roentgen::data
