// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/io_testing.h"

namespace roentgen::io {
namespace {
namespace fs = std::filesystem;
using testing::listing;
using testing::put_file;
using testing::TemporaryFolder;

std::string text_of(const fs::path& path) { return read_text(path).or_throw(); }

/// Message of the exception that `call` throws; empty if it throws none.
template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(ReadFile, gives_every_byte) {
  const TemporaryFolder folder;
  std::string content;
  for (int i = 0; i < 100'000; ++i) content.push_back(static_cast<char>(i * 7));
  put_file(folder.path() / "a", content);
  EXPECT_EQ(text_of(folder.path() / "a"), content);
  const std::vector<std::byte> bytes = read_file(folder.path() / "a").or_throw();
  ASSERT_EQ(bytes.size(), content.size());
  EXPECT_EQ(static_cast<char>(bytes[99'999]), content[99'999]);
}

TEST(ReadFile, takes_an_empty_file) {
  const TemporaryFolder folder;
  put_file(folder.path() / "a", "");
  EXPECT_EQ(text_of(folder.path() / "a"), "");
}

TEST(ReadFile, names_an_absent_file) {
  const TemporaryFolder folder;
  const auto result = read_file(folder.path() / "absent.png");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error(), "[io.file] " + (folder.path() / "absent.png").string() + ": no such file");
}

TEST(ReadFile, refuses_a_directory) {
  const TemporaryFolder folder;
  const auto result = read_text(folder.path());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error(), "[io.file] " + folder.path().string() +
                                ": expected a file, got a folder; try the path of a file in this folder");
}

TEST(ReadFile, refuses_a_pipe_without_waiting_for_it) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  const auto result = read_text(folder.path() / "pipe");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().find("expected a regular file"), std::string::npos) << result.error();
}

TEST(ReadFile, refuses_more_than_the_limit_before_reading) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "large";
  put_file(path, "x");
  fs::resize_file(path, std::uintmax_t{1} << 40);  // a sparse terabyte, which needs no disk space
  const auto result = read_file(path);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().find("expected at most 4294967296 bytes, got 1099511627776 bytes"), std::string::npos)
      << result.error();
  EXPECT_FALSE(read_text(path, 3).ok());
  fs::resize_file(path, 3);
  EXPECT_TRUE(read_text(path, 3).ok()) << "the limit itself is allowed";
}

TEST(MappedFile, shows_the_bytes_of_the_file) {
  const TemporaryFolder folder;
  put_file(folder.path() / "a", "radiograph");
  const MappedFile file = MappedFile::open(folder.path() / "a").or_throw();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()), "radiograph");
}

TEST(MappedFile, of_an_empty_file_is_empty) {
  const TemporaryFolder folder;
  put_file(folder.path() / "a", "");
  EXPECT_TRUE(MappedFile::open(folder.path() / "a").or_throw().bytes().empty());
}

TEST(MappedFile, outlives_a_move_and_the_name) {
  const TemporaryFolder folder;
  put_file(folder.path() / "a", "first");
  put_file(folder.path() / "b", "second");
  MappedFile kept = MappedFile::open(folder.path() / "a").or_throw();
  MappedFile moved = std::move(kept);
  EXPECT_TRUE(kept.bytes().empty());  // NOLINT(bugprone-use-after-move): tests the state of a moved-from map
  fs::remove(folder.path() / "a");
  EXPECT_EQ(static_cast<char>(moved.bytes()[0]), 'f');
  moved = MappedFile::open(folder.path() / "b").or_throw();
  EXPECT_EQ(moved.bytes().size(), 6U);
}

TEST(MappedFile, refuses_what_is_absent_or_a_directory) {
  const TemporaryFolder folder;
  EXPECT_FALSE(MappedFile::open(folder.path() / "absent").ok());
  EXPECT_FALSE(MappedFile::open(folder.path()).ok());
}

TEST(AtomicFile, appears_whole_and_only_when_committed) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a";
  put_file(path, "old");
  AtomicFile file(path);
  file.write("new ");
  file.write("text");
  EXPECT_EQ(text_of(path), "old");
  file.commit();
  EXPECT_EQ(text_of(path), "new text");
  EXPECT_EQ(listing(folder.path()), "a");
}

TEST(AtomicFile, without_a_commit_leaves_everything_as_it_was) {
  const TemporaryFolder folder;
  put_file(folder.path() / "a", "old");
  {
    AtomicFile existing(folder.path() / "a");
    existing.write("new");
    AtomicFile other(folder.path() / "b");
    other.write("new");
  }
  EXPECT_EQ(text_of(folder.path() / "a"), "old");
  EXPECT_EQ(listing(folder.path()), "a");
}

/// Leaves two temporary files of `path`, as a killed process does.
void leave_temporaries(const fs::path& path) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    AtomicFile file(path);
    file.write("half");
    const AtomicFile second(path);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(AtomicFile, removes_what_a_killed_process_left_of_the_same_file) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a";
  put_file(path, "old");
  leave_temporaries(path);
  leave_temporaries(folder.path() / "b");
  EXPECT_EQ(text_of(path), "old") << "what was there is whole after kill -9";
  const auto files = [&folder] { return std::distance(fs::directory_iterator(folder.path()), {}); };
  ASSERT_EQ(files(), 5) << "the test should have left temporaries behind";
  write_file_atomically(path, "new");
  EXPECT_EQ(text_of(path), "new");
  EXPECT_EQ(files(), 3) << "those of another file are not its business";
  remove_leftover_temporaries(folder.path());
  EXPECT_EQ(listing(folder.path()), "a");
}

TEST(AtomicFile, touches_no_file_that_it_did_not_make) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a";
  const std::vector<std::string> names{
      "a.tmp",   ".a.tmp",        ".a.roentgen-.tmp", ".a.roentgen-1-.tmp", ".roentgen-1",
      "b-1.tmp", ".a.roentgen-1", ".a.12-0.tmp",      "a.roentgen-12-0.tmp"};
  for (const std::string& name : names) put_file(folder.path() / name, "mine");
  fs::create_directory(folder.path() / ".a.roentgen-1-0.tmp");
  write_file_atomically(path, "new");
  remove_leftover_temporaries(folder.path());
  for (const std::string& name : names) EXPECT_EQ(text_of(folder.path() / name), "mine") << name;
  EXPECT_TRUE(fs::is_directory(folder.path() / ".a.roentgen-1-0.tmp"));
}

TEST(AtomicFile, leaves_a_file_that_is_being_written_alone) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a";
  AtomicFile first(path);
  first.write("first");
  remove_leftover_temporaries(folder.path());
  write_file_atomically(path, "second");
  EXPECT_EQ(text_of(path), "second");
  first.commit();
  EXPECT_EQ(text_of(path), "first") << "the last commit stands, whole";
  EXPECT_EQ(listing(folder.path()), "a");
}

TEST(AtomicFile, takes_the_longest_name_a_file_may_have) {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  write_file_atomically(folder.path() / name, "new");
  EXPECT_EQ(listing(folder.path()), name);
}

TEST(AtomicFile, refuses_a_directory_and_a_folder_that_is_not_there) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&folder] { AtomicFile file(folder.path()); }),
            "[io.file] " + folder.path().string() +
                ": expected a file to write, got a folder; try the name of a file in this folder");
  const fs::path lost = folder.path() / "absent" / "a";
  EXPECT_EQ(error_of([&lost] { AtomicFile file(lost); }),
            "[io.file] " + lost.string() +
                ": expected a file that can be created, got No such file or directory; try checking the path: "
                "a file or folder in it is missing");
  EXPECT_EQ(listing(folder.path()), "");
}

TEST(AtomicFile, does_not_write_through_a_link_in_place_of_its_temporary) {
  const TemporaryFolder folder;
  put_file(folder.path() / "precious", "keep");
  const fs::path link = folder.path() / (".a.roentgen-" + std::to_string(::getpid()) + "-0.tmp");
  fs::create_symlink(folder.path() / "precious", link);
  write_file_atomically(folder.path() / "a", "new");
  EXPECT_EQ(text_of(folder.path() / "a"), "new");
  EXPECT_EQ(text_of(folder.path() / "precious"), "keep");
}

TEST(AtomicFile, leaves_readers_of_the_old_file_undisturbed) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a";
  put_file(path, "old content");
  const MappedFile reader = MappedFile::open(path).or_throw();
  write_file_atomically(path, "new");
  EXPECT_EQ(static_cast<char>(reader.bytes()[4]), 'c');
}

TEST(AtomicFile, on_a_full_disk_says_so_and_leaves_nothing_half_written) {
  const TemporaryFolder folder;
  const testing::SmallDisk disk(folder.path(), 64 << 10);
  if (!disk.is_there()) GTEST_SKIP() << "NOT TESTED: only root can mount a small disk";
  const fs::path path = folder.path() / "resume.safetensors";
  write_file_atomically(path, "the last checkpoint");
  const std::string large(1 << 20, 'x');
  const std::string error = error_of([&] { write_file_atomically(path, large); });
  EXPECT_NE(error.find("got No space left on device; try freeing space"), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos);
  EXPECT_EQ(listing(folder.path()), "resume.safetensors");
  EXPECT_EQ(text_of(path), "the last checkpoint");
}

TEST(AtomicFile, replaces_its_head_and_goes_on_at_its_end) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "database";
  AtomicFile file(path);
  file.write("????pages");
  file.replace_head("head");
  file.write("!");
  EXPECT_FALSE(fs::exists(path));
  file.commit();
  EXPECT_EQ(text_of(path), "headpages!");
}

TEST(AtomicFile, over_the_file_size_limit_says_so_and_leaves_nothing_half_written) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "resume.safetensors";
  write_file_atomically(path, "the last checkpoint");
  std::string error;
  {
    const testing::FileSizeLimit limit(10'000);
    error = error_of([&path] { write_file_atomically(path, std::string(20'000, 'x')); });
  }
  EXPECT_EQ(
      error,
      "[io.file] " + path.string() +
          ": expected free space for 10000 more bytes, got File too large; try freeing space there, or another folder");
  EXPECT_EQ(listing(folder.path()), "resume.safetensors");
  EXPECT_EQ(text_of(path), "the last checkpoint");
}
}  // namespace
}  // namespace roentgen::io
