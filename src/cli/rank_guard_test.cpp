// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests guards without mpirun: they are children of this process.
#include "cli/rank_guard.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "core/folder_testing.h"
#include "io/file.h"

namespace roentgen::cli {
namespace {

// Starts rank 1 of two ranks with its guard. The rank calls `body` and exits with its result.
pid_t start(const std::string& board, const std::function<int()>& body, bool is_tagged = false) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  ::setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  ::setenv(dist::LaunchBoard::kVariable, board.c_str(), 1);
  guard_rank(true, is_tagged);
  ::_exit(body());
}

int end_of(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

int killed_in_a_bucket(int signal) {
  dist::reach({.name = "gradient bucket", .index = 2}, 6);
  ::raise(signal);
  return 0;
}

TEST(RankGuard, ends_as_its_rank_does) {
  const dist::LaunchBoard board(2);
  const int status = end_of(start(board.file(), [] { return 5; }));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5) << status;
  EXPECT_FALSE(board.killed().has_value());
}

TEST(RankGuard, tells_who_was_killed_where_before_it_ends_by_the_same_signal) {
  for (const int signal : {SIGKILL, SIGXCPU}) {
    const dist::LaunchBoard board(2);
    const int status = end_of(start(board.file(), [&] { return killed_in_a_bucket(signal); }));
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    ASSERT_TRUE(board.killed().has_value());
    EXPECT_EQ(board.killed()->rank, 1);
    EXPECT_EQ(board.killed()->signal, signal);
    EXPECT_EQ(board.place_of(1), "update 7, gradient bucket 2");
  }
}

TEST(RankGuard, says_it_itself_on_another_host) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "said").string();
  const int said = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(said, STDERR_FILENO);
  const pid_t child = start("/nowhere/board", [] { return killed_in_a_bucket(SIGKILL); });
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  ::close(said);
  end_of(child);
  const std::string line = io::read_text(file).or_throw();
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  EXPECT_THAT(line, testing::StartsWith("[cli.launch] rank 1 (" + std::string(host.data()) +
                                        "), update 7, gradient bucket 2: expected a normal exit, got signal 9"));
  EXPECT_TRUE(is_about_killed(line));
}

TEST(RankGuard, tags_every_line_of_a_rank_that_is_killed_in_the_middle_of_one) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "said").string();
  const int said = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int before = ::dup(STDOUT_FILENO);
  ::dup2(said, STDOUT_FILENO);
  const dist::LaunchBoard board(2);
  const std::string many(10000, 'x');
  const auto speak = [&] {
    for (const std::string& text : {std::string("one\ntw"), std::string("o\n\n"), many + "\nno end"}) {
      static_cast<void>(!::write(STDOUT_FILENO, text.data(), text.size()));
    }
    return killed_in_a_bucket(SIGKILL);
  };
  const pid_t child = start(board.file(), speak, /*is_tagged=*/true);
  ::dup2(before, STDOUT_FILENO);
  ::close(before);
  ::close(said);
  const int status = end_of(child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_EQ(io::read_text(file).or_throw(), "1: one\n1: two\n1: \n1: " + many + "\n1: no end\n");
}

TEST(RankGuard, names_resume_where_there_is_a_run) {
  const dist::KilledRank killed{.rank = 1, .host = "hal", .signal = SIGKILL};
  EXPECT_THAT(text_of(killed, "", true), testing::HasSubstr("; try --resume, and dmesg, "));
  EXPECT_THAT(text_of(killed, "", false), testing::HasSubstr("; try running the command again, and dmesg, "));
}

TEST(RankGuard, passes_signals_on_once_and_does_not_tell_of_their_end) {
  const dist::LaunchBoard board(2);
  const pid_t child = start(board.file(), [] {
    ::pause();
    return 0;
  });
  while (board.processes().empty()) std::this_thread::yield();
  ::kill(child, SIGTERM);
  const int status = end_of(child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  EXPECT_FALSE(board.killed().has_value());
}

TEST(RankGuard, takes_its_rank_along) {
  const dist::LaunchBoard board(2);
  const pid_t child = start(board.file(), [] {
    ::raise(SIGSTOP);  // a stopped rank must be ended too
    return 0;
  });
  while (board.processes().empty()) std::this_thread::yield();
  const pid_t rank = board.processes()[0];
  EXPECT_NE(rank, child);
  EXPECT_EQ(::getpgid(rank), rank);
  ::kill(child, SIGKILL);
  end_of(child);
  const auto is_there = [&] {
    const auto words = io::read_text("/proc/" + std::to_string(rank) + "/cmdline");
    return words.ok() && !words.value().empty();
  };
  while (is_there()) std::this_thread::yield();
}

}  // namespace
}  // namespace roentgen::cli
