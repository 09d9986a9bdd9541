// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/copy_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/folder_testing.h"
#include "io/copy_list.h"
#include "io/file.h"
#include "io/io_testing.h"

namespace roentgen::io {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CopyFolder : public ::testing::Test {
 protected:
  CopyFolder() {
    fs::create_directories(source() / "images/a");
    write("labels.csv", "path,label\n");
    write("empty", "");
    for (int i = 0; i < 12; ++i)
      write("images/a/" + std::to_string(i),
            std::string(static_cast<std::size_t>(700 * i), static_cast<char>('a' + i)));
    write("images/large", std::string(50'000, 'L') + "end");
  }
  CopyFolder(const CopyFolder&) = delete;
  CopyFolder& operator=(const CopyFolder&) = delete;

  [[nodiscard]] fs::path source() const { return root_ / "net/chest"; }
  [[nodiscard]] fs::path state() const { return root_ / "local/.chest.copy-local"; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(source() / name, std::ios::binary) << text;
  }
  [[nodiscard]] CopyOptions options() const {
    return {.source = source(), .folder = root_ / "local", .workers = 2, .chunk_bytes = 1000};
  }
  /// Content and time of every file below a folder, by path.
  static std::map<std::string, std::pair<std::string, std::int64_t>> tree(const fs::path& folder) {
    std::map<std::string, std::pair<std::string, std::int64_t>> files;
    for (const CopyFile& file : list_to_copy(folder)) {
      files[file.path] = {read_text(folder / file.path).value(), file.modified_ns};
    }
    return files;
  }
  [[nodiscard]] std::string refusal(const CopyOptions& wanted) const {
    try {
      static_cast<void>(copy_folder(wanted));
    } catch (const Error& error) {
      return error.what();
    }
    return "no refusal";
  }
  /// Copies in a child process that kills itself at the n-th progress call. Returns false if the copy finished before.
  [[nodiscard]] bool is_killed_at(int n) const {
    const pid_t child = ::fork();
    if (child == 0) {
      CopyOptions wanted = options();
      int calls = 0;
      wanted.on_progress = [&](std::uint64_t, std::uint64_t) {
        if (++calls == n) ::raise(SIGKILL);
      };
      static_cast<void>(copy_folder(wanted));
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status);
  }

  const TemporaryFolder folder_;
  const fs::path root_ = folder_.path();
};

TEST_F(CopyFolder, is_as_private_as_its_source) {
  fs::permissions(source(), fs::perms::owner_all);
  fs::permissions(source() / "labels.csv", fs::perms::owner_read);
  const fs::path copy = copy_folder(options()).folder;
  EXPECT_EQ(fs::status(copy).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(copy / "labels.csv").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(CopyFolder, copies_files_with_their_times_and_says_where) {
  fs::create_symlink(source() / "images/a", source() / "linked");
  const CopiedFolder copied = copy_folder(options());
  EXPECT_EQ(copied.folder, fs::canonical(root_) / "local/chest");
  EXPECT_EQ(copied.files, 27);
  EXPECT_EQ(copied.copied_bytes, copied.bytes);
  EXPECT_EQ(tree(copied.folder), tree(source()));
  const CopiedFolder again = copy_folder(options());
  EXPECT_EQ(again.copied_bytes, 0U);
  EXPECT_EQ(again.folder, copied.folder);
}

TEST_F(CopyFolder, goes_on_wherever_it_was_killed) {
  const auto wanted = tree(source());
  std::uint64_t least = 1'000'000;
  for (const int n : {1, 7, 30, 60, 90}) {
    fs::remove_all(root_ / "local");
    ASSERT_TRUE(is_killed_at(n)) << n;
    EXPECT_FALSE(fs::exists(root_ / "local/chest"));
    const CopiedFolder copied = copy_folder(options());
    EXPECT_EQ(tree(copied.folder), wanted) << n;
    // Existing chunks are not copied again, so a later kill leaves less to copy.
    EXPECT_LT(copied.copied_bytes, least) << n;
    least = copied.copied_bytes;
  }
}

TEST_F(CopyFolder, goes_on_in_the_middle_of_a_file) {
  CopyOptions wanted = options();
  fs::remove_all(source());
  fs::create_directories(source());
  write("one", std::string(10'000, 'x'));
  ASSERT_TRUE(is_killed_at(4));
  EXPECT_EQ(copy_folder(wanted).copied_bytes, 6'000U);
}

TEST_F(CopyFolder, copies_again_what_the_disk_lost_or_the_journal_has_torn) {
  ASSERT_TRUE(is_killed_at(60));
  const fs::path large = state() / "files/images/large";
  if (fs::exists(large)) fs::resize_file(large, 1500);
  std::ofstream(state() / "journal", std::ios::app) << "0123456789abcdef0123456789abcdef 3 7";
  EXPECT_EQ(tree(copy_folder(options()).folder), tree(source()));
}

TEST_F(CopyFolder, takes_a_source_that_changed_since_it_was_killed) {
  ASSERT_TRUE(is_killed_at(80));
  write("images/a/11", "other");
  fs::remove(source() / "images/a/10");
  EXPECT_EQ(tree(copy_folder(options()).folder), tree(source()));
}

TEST_F(CopyFolder, takes_a_source_whose_folders_and_files_changed_places_since_it_was_killed) {
  fs::create_directories(source() / "gone/deep");
  write("gone/deep/x", "x");
  ASSERT_TRUE(is_killed_at(60));
  ASSERT_TRUE(fs::is_directory(state() / "files/gone/deep"));
  ASSERT_TRUE(fs::is_directory(state() / "files/images/a"));
  ASSERT_TRUE(fs::is_regular_file(state() / "files/empty"));
  fs::remove_all(source() / "gone");
  fs::remove_all(source() / "images/a");
  write("images/a", "a file by now");
  fs::remove(source() / "empty");
  fs::create_directories(source() / "empty");
  write("empty/y", "y");
  const fs::path copied = copy_folder(options()).folder;
  EXPECT_EQ(tree(copied), tree(source()));
  EXPECT_FALSE(fs::exists(copied / "gone"));
}

TEST_F(CopyFolder, gives_a_finished_copy_its_name_for_one_that_was_killed_before_it_could) {
  static_cast<void>(copy_folder(options()));
  fs::rename(root_ / "local/chest", state() / "files");
  const CopiedFolder copied = copy_folder(options());
  EXPECT_EQ(copied.copied_bytes, 0U);
  EXPECT_EQ(tree(copied.folder), tree(source()));
}

TEST_F(CopyFolder, is_made_by_one_process_while_others_wait) {
  int started[2], go[2];
  ASSERT_EQ(::pipe(started), 0);
  ASSERT_EQ(::pipe(go), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    CopyOptions wanted = options();
    bool is_first = true;
    wanted.on_progress = [&](std::uint64_t, std::uint64_t) {
      if (!std::exchange(is_first, false)) return;
      char byte = 's';
      if (::write(started[1], &byte, 1) != 1 || ::read(go[0], &byte, 1) != 1) ::_exit(2);
    };
    ::_exit(copy_folder(wanted).copied_bytes > 0 ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(started[0], &byte, 1), 1);
  CopyOptions wanted = options();
  std::optional<std::int64_t> holder;
  wanted.on_wait = [&](std::int64_t process) {
    holder = process;
    EXPECT_EQ(::write(go[1], "g", 1), 1);  // tells the other process to continue
  };
  EXPECT_EQ(copy_folder(wanted).copied_bytes, 0U);
  EXPECT_EQ(holder, child);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(CopyFolder, stops_where_a_write_fails_and_goes_on_later) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 20'000, .rlim_max = RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string said = refusal(options());
    ::_exit(said.find("free space for 1000 more bytes") != std::string::npos && said.find("large") != std::string::npos
                ? 0
                : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(fs::exists(root_ / "local/chest"));
  const CopiedFolder copied = copy_folder(options());
  EXPECT_LT(copied.copied_bytes, copied.bytes);
  EXPECT_EQ(tree(copied.folder), tree(source()));
}

TEST_F(CopyFolder, asks_for_room_before_it_copies) {
  write("images/sparse", "");
  fs::resize_file(source() / "images/sparse", std::uintmax_t{1} << 43U);  // a sparse file of 8 TiB
  EXPECT_THAT(refusal(options()), HasSubstr("expected free space for 83886"));
  EXPECT_FALSE(fs::exists(state() / "files/labels.csv"));
}

TEST_F(CopyFolder, refuses_what_is_no_copy_of_this_source_as_it_is) {
  static_cast<void>(copy_folder(options()));
  write("labels.csv", "path,label,more\n");
  EXPECT_THAT(refusal(options()),
              HasSubstr("got a copy of another folder or of an older state; try removing this copy"));
  fs::remove_all(root_ / "local");
  static_cast<void>(copy_folder(options()));
  fs::remove(root_ / "local/chest/labels.csv");
  EXPECT_THAT(refusal(options()),
              HasSubstr("got 1 missing or changed files, such as labels.csv; try removing this copy"));
  fs::remove_all(root_ / "local");
  fs::create_directories(root_ / "local/chest");
  EXPECT_THAT(refusal(options()), HasSubstr("a folder of that name that copy-local did not make"));
}

TEST_F(CopyFolder, refuses_folders_that_cannot_be) {
  CopyOptions wanted = options();
  wanted.source = root_ / "nowhere";
  EXPECT_THAT(refusal(wanted), HasSubstr("[io.copy]"));
  wanted.source = source() / "labels.csv";
  EXPECT_THAT(refusal(wanted), HasSubstr("expected a folder"));
  wanted = options();
  wanted.folder = source() / "images";
  EXPECT_THAT(refusal(wanted), HasSubstr("one folder inside the other"));
  wanted.folder = source().parent_path();
  EXPECT_THAT(refusal(wanted), HasSubstr("one folder inside the other"));
}

TEST_F(CopyFolder, refuses_what_is_no_file_and_a_folder_without_end) {
  fs::create_directory_symlink(source(), source() / "images/again");
  EXPECT_THAT(refusal(options()), HasSubstr("a folder that contains itself"));
  fs::remove(source() / "images/again");
  ASSERT_EQ(::mkfifo((source() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal(options()), HasSubstr("got a special file"));
  fs::remove(source() / "pipe");
  write("two\nlines", "");
  EXPECT_THAT(refusal(options()), HasSubstr("without line breaks"));
}

TEST_F(CopyFolder, refuses_a_file_that_changes_meanwhile) {
  CopyOptions wanted = options();
  wanted.workers = 1;
  wanted.on_progress = [&](std::uint64_t, std::uint64_t) { write("images/large", "short"); };
  EXPECT_THAT(refusal(wanted), HasSubstr("a file that does not change during the copy, got a changed file"));
}

}  // namespace
}  // namespace roentgen::io
