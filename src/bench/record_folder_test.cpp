// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/record_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "core/folder_testing.h"

namespace roentgen::bench {
namespace {

// The process and its remover hold a pipe, whose end tells the test that both have ended.
TEST(FolderRemover, removes_the_folder_of_a_process_that_ends_without_destructors) {
  TemporaryFolder folder;
  const std::filesystem::path work = folder.path() / "it's a work folder";
  std::filesystem::create_directories(work / "records");
  std::ofstream(work / "records/a") << "x";
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t process = ::fork();
  if (process == 0) {
    const FolderRemover remover(work);
    ::_exit(0);
  }
  ::close(ends[1]);
  ASSERT_EQ(::waitpid(process, nullptr, 0), process);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  ::close(ends[0]);
  EXPECT_FALSE(std::filesystem::exists(work));
}

TEST(FolderRemover, removes_the_folder_when_it_is_destroyed) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "work");
  { const FolderRemover remover(folder.path() / "work"); }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "work"));
}

}  // namespace
}  // namespace roentgen::bench
