// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/unpacked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "io/file.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string text_of(const fs::path& path) { return io::read_text(path).or_throw(); }

TEST(Unpacked, leaves_other_files_where_they_are) {
  const TestFolder folder, cache;
  const fs::path plain = folder.write("a.tfrecord", "records");
  EXPECT_EQ(unpacked(plain, cache.path()), plain);
  EXPECT_TRUE(fs::is_empty(cache.path()));
}

TEST(Unpacked, is_done_once_and_again_for_another_file_of_that_name) {
  const TestFolder folder, cache;
  const fs::path packed = folder.write("a.tfrecord.gz", gzipped("one"));
  const fs::path first = unpacked(packed, cache.path() / "new");
  EXPECT_EQ(text_of(first), "one");
  EXPECT_THAT(first.filename().string(), testing::EndsWith("-a.tfrecord"));
  const auto written = fs::last_write_time(first);
  EXPECT_EQ(unpacked(packed, cache.path() / "new"), first);
  EXPECT_EQ(fs::last_write_time(first), written) << "not done again";
  folder.write("a.tfrecord.gz", gzipped("other"));
  EXPECT_EQ(text_of(unpacked(packed, cache.path() / "new")), "other") << "of another size";
  const auto time = fs::last_write_time(packed);
  folder.write("a.tfrecord.gz", gzipped("OTHER"));
  fs::last_write_time(packed, time + std::chrono::seconds(1));
  EXPECT_EQ(text_of(unpacked(packed, cache.path() / "new")), "OTHER") << "of another time";
}

TEST(Unpacked, is_done_again_where_the_copy_is_no_longer_what_was_written) {
  const TestFolder folder, cache;
  const fs::path packed = folder.write("a.tfrecord.gz", gzipped("one"));
  const fs::path copy = unpacked(packed, cache.path());
  for (const char* damaged : {"", "on", "one more"}) {
    std::ofstream(copy, std::ios::trunc) << damaged;
    EXPECT_EQ(text_of(unpacked(packed, cache.path())), "one") << damaged;
  }
  fs::remove(copy);
  fs::create_symlink(packed, copy);
  EXPECT_EQ(text_of(unpacked(packed, cache.path())), "one");
}

TEST(Unpacked, goes_into_no_folder_of_somebody_else) {
  const TestFolder folder, cache;
  const fs::path packed = folder.write("a.tfrecord.gz", gzipped("one"));
  static_cast<void>(unpacked(packed, cache.path()));
  const fs::path place = cache.path() / "unpacked";
  EXPECT_EQ(fs::status(place).permissions(), fs::perms::owner_all);
  const auto refusal = [&](const fs::path& where) {
    return message_of<DataError>([&] { static_cast<void>(unpacked(packed, where)); });
  };
  fs::permissions(place, fs::perms::all);
  EXPECT_THAT(refusal(cache.path()), HasSubstr("can be written by other users"));
  fs::remove_all(place);
  fs::create_directory_symlink(folder.path(), place);
  EXPECT_THAT(refusal(cache.path()), HasSubstr("is a link or a file, not a folder"));
  EXPECT_THAT(refusal({}), HasSubstr("got no cache folder; try setting XDG_CACHE_HOME=DIR"));
}

TEST(Unpacked, leaves_nothing_of_a_damaged_file) {
  const TestFolder folder, cache;
  std::string bytes = gzipped("some text");
  bytes[16] = 'X';
  const fs::path damaged = folder.write("a.tar.gz", bytes);
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(unpacked(damaged, cache.path())); }),
              HasSubstr("[io.gzip] a.tar.gz: expected a complete gzip file, got a damaged file"));
  EXPECT_TRUE(fs::is_empty(cache.path() / "unpacked"));
  const fs::path sound = folder.write("b.tar.gz", gzipped("x"));
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(unpacked(sound, sound)); }),
              HasSubstr("expected a private cache folder for unpacked files"));
}

}  // namespace
}  // namespace roentgen::data
