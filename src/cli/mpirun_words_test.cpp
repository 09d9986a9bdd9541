// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/mpirun_words.h"

#include <gtest/gtest.h>

namespace roentgen::cli {
namespace {

const std::string kRule(74, '-');

TEST(MpirunWords, leaves_what_ranks_say) {
  MpirunWords words;
  EXPECT_EQ(words.pass("one\ntwo"), "one\n");
  EXPECT_EQ(words.pass(" more\n---\n"), "two more\n---\n");
  EXPECT_EQ(words.pass("no end"), "");
  EXPECT_EQ(words.rest(), "no end");
  EXPECT_FALSE(words.killed().has_value());
}

TEST(MpirunWords, takes_out_how_ranks_ended_and_remembers_the_first) {
  MpirunWords words;
  std::string passed;
  for (const char c :  // as Open MPI 4.1.4 says it, however it is cut
       "before\n" + kRule +
           "\nPrimary job  terminated normally, but 1 process returned\n"
           "a non-zero exit code. Per user-direction, the job has been aborted.\n" +
           kRule + "\nbetween\n" + kRule +
           "\nmpirun noticed that process rank 2 with PID 8123 on node n07 exited on signal 9 (Killed).\n" + kRule +
           "\n" + kRule +
           "\nmpirun noticed that process rank 1 with PID 8122 on node n07 exited on signal 15 (Terminated).\n" +
           kRule + "\nafter\n") {
    passed += words.pass({&c, 1});
  }
  EXPECT_EQ(passed + words.rest(), "before\nbetween\nafter\n");
  ASSERT_TRUE(words.killed().has_value());
  EXPECT_EQ(words.killed()->rank, 2);
  EXPECT_EQ(words.killed()->host, "n07");
  EXPECT_EQ(words.killed()->signal, 9);
}

TEST(MpirunWords, leaves_other_paragraphs) {
  MpirunWords words;
  const std::string slots = kRule + "\nThere are not enough slots available in the system\n" + kRule + "\n";
  EXPECT_EQ(words.pass(slots), slots);
  EXPECT_EQ(words.pass(kRule + "\nbegun\n"), "");
  EXPECT_EQ(words.rest(), kRule + "\nbegun\n");
}

}  // namespace
}  // namespace roentgen::cli
