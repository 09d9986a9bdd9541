// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/work_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "core/error.h"
#include "core/folder_testing.h"

namespace roentgen::bench {
namespace {

namespace fs = std::filesystem;

TEST(WorkFolder, is_removed_with_its_files) {
  const TemporaryFolder place;
  {
    const WorkFolder work(place.path());
    EXPECT_EQ(work.path().parent_path(), place.path());
    std::ofstream(work.path() / "file") << "content";
    EXPECT_FALSE(fs::is_empty(place.path()));
  }
  EXPECT_TRUE(fs::is_empty(place.path()));
}

// Ends a process that has a work folder by a signal. Returns when the folder is gone; fails by ctest's time limit.
void expect_removed_after(int signal) {
  const TemporaryFolder place;
  const pid_t child = ::fork();
  if (child == 0) {
    const WorkFolder work(place.path());
    std::ofstream(work.path() / "file") << "content";
    std::signal(signal, SIG_DFL);  // shells start background jobs with SIGINT ignored
    std::raise(signal);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
  while (!fs::is_empty(place.path())) std::this_thread::yield();
}

TEST(WorkFolder, is_removed_after_an_interrupt) { expect_removed_after(SIGINT); }
TEST(WorkFolder, is_removed_after_a_kill) { expect_removed_after(SIGKILL); }

TEST(WorkFolder, refuses_a_place_that_is_not_there) {
  const TemporaryFolder place;
  EXPECT_THROW(WorkFolder(place.path() / "nowhere"), ConfigError);
}

}  // namespace
}  // namespace roentgen::bench
