// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests LaunchBoard between this process and child processes that act as ranks. A process maps the board only once, so
// each report comes from a new child.
#include "dist/launch_board.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>

namespace roentgen::dist {
namespace {

// Runs `body` in a child process that looks like rank `rank` of two.
int as_rank(int rank, const std::string& board, const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    ::setenv("OMPI_COMM_WORLD_RANK", std::to_string(rank).c_str(), 1);
    if (!board.empty()) ::setenv(LaunchBoard::kVariable, board.c_str(), 1);
    body();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(LaunchBoard, tells_what_ranks_have_told) {
  std::string file;
  {
    const LaunchBoard board(2);
    file = board.file();
    EXPECT_FALSE(board.is_ready());
    EXPECT_FALSE(board.exit_code().has_value());
    EXPECT_EQ(board.place_of(1), "");
    EXPECT_EQ(as_rank(0, file, [] { ::_exit(tell_ready() && is_seen_by_starter() ? 0 : 1); }), 0);
    EXPECT_EQ(as_rank(1, file, [] { reach({.name = "gradient bucket", .index = 3}, 11); }), 0);
    EXPECT_TRUE(board.is_ready());
    EXPECT_EQ(board.place_of(1), "update 12, gradient bucket 3");
    EXPECT_EQ(board.place_of(0), "");
    EXPECT_EQ(as_rank(1, file, [] { reach({.name = "input"}, 0); }), 0);
    EXPECT_EQ(board.place_of(1), "update 1, input") << "nothing is left of longer texts";
    EXPECT_FALSE(board.has_failed());
    EXPECT_EQ(as_rank(0, file, [] { tell_failed_later(); }), 0);
    EXPECT_TRUE(board.has_failed());
    EXPECT_FALSE(board.failure().has_value());
    EXPECT_EQ(as_rank(1, file, [] { EXPECT_TRUE(tell_failed(2)); }), 0);
    EXPECT_TRUE(board.has_failed());
    EXPECT_EQ(board.failure(), 2);
    EXPECT_EQ(as_rank(0, file, [] { tell_end(3); }), 0);
    EXPECT_EQ(board.exit_code(), 3);
    EXPECT_EQ(board.place_of(2), "") << "no such rank";
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(LaunchBoard, knows_whether_ranks_connect_to_each_other) {
  const LaunchBoard board(2);
  EXPECT_FALSE(board.is_connecting() || board.is_connected());
  EXPECT_EQ(as_rank(1, board.file(), [] { reach(kStartUp); }), 0);
  EXPECT_TRUE(board.is_connecting());
  EXPECT_FALSE(board.is_connected());
  EXPECT_EQ(as_rank(1, board.file(), [] { reach({.name = "preparation"}); }), 0);
  EXPECT_TRUE(board.is_connected());
}

TEST(LaunchBoard, tells_the_first_that_was_killed_and_which_processes_ranks_are) {
  const LaunchBoard board(2);
  EXPECT_FALSE(board.killed().has_value());
  EXPECT_TRUE(board.processes().empty());
  EXPECT_EQ(as_rank(1, board.file(), [] { tell_process(); }), 0);
  ASSERT_EQ(board.processes().size(), 1U);
  EXPECT_NE(board.processes()[0], ::getpid());
  const auto told = [&](int rank, int signal) {
    return as_rank(rank, board.file(), [&] { ::_exit(tell_killed(signal) ? 0 : 1); });
  };
  EXPECT_EQ(told(1, 9), 0);
  EXPECT_EQ(told(0, 15), 0) << "heard, and not the first";
  ASSERT_TRUE(board.killed().has_value());
  EXPECT_EQ(board.killed()->rank, 1);
  EXPECT_EQ(board.killed()->signal, 9);
  std::array<char, 128> host{};
  ::gethostname(host.data(), host.size() - 1);
  EXPECT_EQ(board.killed()->host, host.data());
}

TEST(LaunchBoard, a_guard_on_another_host_knows_the_place_and_that_it_is_alone) {
  EXPECT_EQ(as_rank(1, "/nowhere/board",
                    [] {
                      if (!own_place().empty()) ::_exit(1);
                      if (::fork() == 0) {
                        reach({.name = "gradient bucket", .index = 3}, 11);
                        ::_exit(0);
                      }
                      int status = -1;
                      ::wait(&status);
                      ::_exit(own_place() == "update 12, gradient bucket 3" && !tell_killed(9) ? 0 : 2);
                    }),
            0);
}

TEST(LaunchBoard, of_another_host_in_a_shared_folder_is_left_alone) {
  const LaunchBoard board(2);
  std::FILE* file = std::fopen(board.file().c_str(), "r+");
  ASSERT_NE(file, nullptr);
  std::fseek(file, 4 * 128, SEEK_SET);
  std::fputc('#', file);  // overwrites the name of the host
  std::fclose(file);
  EXPECT_EQ(as_rank(0, board.file(), [] { ::_exit(tell_ready() || tell_killed(9) ? 1 : 0); }), 0);
  EXPECT_FALSE(board.is_ready());
}

TEST(LaunchBoard, of_another_host_is_not_missed) {
  const auto body = [] {
    EXPECT_FALSE(tell_ready() || is_seen_by_starter());
    tell_process();
    reach({.name = "input"}, 0);
    EXPECT_FALSE(tell_failed(1));
    tell_end(0);
  };
  EXPECT_EQ(as_rank(0, "/nowhere/board", body), 0);
  EXPECT_EQ(as_rank(0, "", body), 0);
}

}  // namespace
}  // namespace roentgen::dist
