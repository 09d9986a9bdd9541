// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/late_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace roentgen::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// Starts a child process that registers on the board as rank `rank` of three.
pid_t start(const dist::LaunchBoard& board, int rank) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
    ::setenv("OMPI_COMM_WORLD_RANK", std::to_string(rank).c_str(), 1);
    ::setenv(dist::LaunchBoard::kVariable, board.file().c_str(), 1);
    dist::tell_process();
    ::raise(SIGSTOP);
    while (true) ::pause();
  }
  int status = 0;
  ::waitpid(child, &status, WUNTRACED);
  return child;
}

void end(pid_t child) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(LateStart, names_first_who_stands_still_then_who_is_not_there) {
  const dist::LaunchBoard board(3);
  const auto text = [&] { return late_start_text(board, 3, std::chrono::seconds(40), OtherHosts::Yes); };
  const auto local = [&] { return late_start_text(board, 3, std::chrono::seconds(40), OtherHosts::No); };
  EXPECT_THAT(text(), HasSubstr("try checking that ssh reaches the other hosts, or"));
  EXPECT_THAT(local(), HasSubstr("try finding the process that is stopped or slow, or"));
  EXPECT_THAT(local(), Not(HasSubstr("ssh")));
  EXPECT_THAT(text(), HasSubstr("ranks 0, 1, 2, start-up: expected all 3 ranks (processes) to start within 40 s, got "
                                "no sign of these processes"));
  const pid_t one = start(board, 1);
  EXPECT_THAT(text(), HasSubstr("[cli.launch] rank 1 ("));
  EXPECT_THAT(text(),
              HasSubstr("), start-up: expected all 3 ranks (processes) to start within 40 s, got a stopped process"));
  ::kill(one, SIGCONT);
  int status = 0;
  ::waitpid(one, &status, WCONTINUED);
  EXPECT_THAT(text(), HasSubstr("ranks 0, 2, start-up: "));
  const pid_t zero = start(board, 0), two = start(board, 2);
  EXPECT_THAT(text(), HasSubstr("ranks 0, 2 ("));
  for (const pid_t child : {zero, two}) {
    ::kill(child, SIGCONT);
    ::waitpid(child, &status, WCONTINUED);
  }
  EXPECT_THAT(
      text(),
      HasSubstr(
          "start-up: expected all 3 ranks (processes) to start within 40 s, got ranks that are still connecting"));
  EXPECT_THAT(text(), Not(HasSubstr("rank 1")));
  for (const pid_t child : {zero, one, two}) end(child);
}

TEST(LateEnd, names_who_stands_still_then_ranks_of_other_hosts_then_mpirun) {
  const dist::LaunchBoard board(3);
  const auto text = [&](OtherHosts others) { return late_end_text(board, 3, std::chrono::seconds(5), others); };
  const std::string wanted = ": expected an end within 5 s after rank 0 ended, got ";
  EXPECT_THAT(text(OtherHosts::No), HasSubstr("[cli.launch] mpirun" + wanted + "no end"));
  EXPECT_THAT(text(OtherHosts::Yes), HasSubstr("ranks 0, 1, 2, end" + wanted + "no sign of these processes on "));
  const pid_t two = start(board, 2);
  for (const OtherHosts others : {OtherHosts::No, OtherHosts::Yes}) {
    EXPECT_THAT(text(others), HasSubstr("[cli.launch] rank 2 ("));
    EXPECT_THAT(text(others), HasSubstr("), end" + wanted + "a stopped process"));
  }
  end(two);
}

}  // namespace
}  // namespace roentgen::cli
