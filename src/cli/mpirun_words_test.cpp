// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/mpirun_words.h"

#include <gtest/gtest.h>

#include "cli/rank_guard.h"

namespace roentgen::cli {
namespace {

const std::string kRule(74, '-');

// Message of Open MPI about a rank that ends without calling MPI_Finalize.
TEST(MpirunWords, leave_out_that_a_rank_exited_improperly) {
  MpirunWords words;
  const std::string rule(74, '-');
  EXPECT_EQ(words.pass("error\n" + rule +
                       "\nmpirun has exited due to process rank 0 with PID 0 on\nnode vm exiting "
                       "improperly. There are three reasons this could occur:\n\n1. this process did not call\n" +
                       rule + "\n"),
            "error\n");
  EXPECT_EQ(words.rest(), "");
}

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
  for (const char c :  // text of Open MPI 4.1.4, passed character by character
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

TEST(MpirunWords, takes_out_what_hydra_says_of_the_rank_that_it_ended_itself) {
  MpirunWords words;
  const std::string rule(83, '=');
  const std::string said =  // text of MPICH 4.0.2 on standard output
      rule + "\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 9025 RUNNING AT n07\n" +
      "=   EXIT CODE: 9\n=   CLEANING UP REMAINING PROCESSES\n=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES\n" + rule +
      "\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n" +
      "This typically refers to a problem with your application.\n" +
      "Please see the FAQ page for debugging suggestions\n";
  std::string passed;
  for (const char c : "before\n" + said + "after\n" + said + "Please see below\n") passed += words.pass({&c, 1});
  EXPECT_EQ(passed + words.rest(), "before\nafter\nPlease see below\n");
  EXPECT_FALSE(words.killed().has_value());
  const std::string other = rule + "\na table\n" + std::string(83, '-') + "\n" + rule + "\n";
  EXPECT_EQ(words.pass(other), other);
}

TEST(MpirunWords, passes_on_the_first_word_of_a_guard) {
  MpirunWords words;
  const std::string line = text_of({.rank = 1, .host = "n07", .signal = 9}, "update 3, forward", true) + "\n";
  EXPECT_FALSE(words.has_told());
  EXPECT_EQ(words.pass(line), line);
  EXPECT_TRUE(words.has_told());
  EXPECT_EQ(words.pass(text_of({.rank = 0, .host = "n06", .signal = 9}, "", true) + "\n"), "");
  EXPECT_EQ(words.pass("[cli.launch] ranks: expected 2, got 3; try 2\n"),
            "[cli.launch] ranks: expected 2, got 3; try 2\n");
}

TEST(MpirunWords, takes_out_what_may_have_stopped_a_daemon) {
  MpirunWords words;
  const std::string said =
      kRule + "\nORTE was unable to reliably start one or more daemons.\nThis usually is caused by:\n" +
      "\n* not finding the required libraries and/or binaries on\n  one or more nodes.\n" + kRule + "\n" + kRule +
      "\nORTE does not know how to route a message to the specified daemon\nlocated on the "
      "indicated node:\n\n  my node:   a\n" +
      kRule + "\n";
  EXPECT_FALSE(words.has_no_process());
  EXPECT_EQ(words.pass("ssh: Could not resolve hostname b\n" + said), "ssh: Could not resolve hostname b\n");
  EXPECT_TRUE(words.has_no_process());
}

TEST(MpirunWords, hears_that_a_host_has_no_program) {
  MpirunWords words;
  const std::string said = kRule +
                           "\nmpirun was unable to launch the specified application as it could not access\nor execute "
                           "an executable:\n\nExecutable: /opt/roentgen\nNode: b\n\nwhile attempting to start process "
                           "rank 1.\n" +
                           kRule + "\n";
  EXPECT_EQ(words.pass(said), said);
  EXPECT_TRUE(words.has_no_process());
  EXPECT_FALSE(words.killed());
}

TEST(MpirunWords, leaves_other_paragraphs) {
  MpirunWords words;
  const std::string slots = kRule + "\nThere are not enough slots available in the system\n" + kRule + "\n";
  EXPECT_EQ(words.pass(slots), slots);
  EXPECT_EQ(words.pass(kRule + "\nbegun\n"), "");
  EXPECT_EQ(words.rest(), kRule + "\nbegun\n");
}

TEST(MpirunWords, an_error_of_several_ranks_is_said_once) {
  const std::string error = "[train.recipe] train.bucket_mb: expected above 0, got 0; try 4\n";
  const std::string other = "[train.recipe] train.bucket_mb: expected above 0, got -1; try 4\n";
  MpirunWords words;
  EXPECT_EQ(words.pass(error + "step\nstep\n" + error + other), error + "step\nstep\n" + other);
}

TEST(MpirunWords, hears_that_all_ranks_listen) {
  MpirunWords words;
  EXPECT_EQ(words.pass("one\n"), "one\n");
  EXPECT_FALSE(words.all_listen());
  EXPECT_EQ(words.pass(std::string(kAllListen) + "\ntwo\nmpirun: Forwarding signal 10 to job\n"), "two\n");
  EXPECT_TRUE(words.all_listen());
}

TEST(MpirunWords, passes_tagged_lines_of_every_rank_and_hides_mpiruns_own) {
  MpirunWords words(/*is_tagged=*/true);
  const std::string error = "[data.read] a file: expected an image, got none; try another\n";
  EXPECT_EQ(words.pass("0: " + error + kRule + "\nPrimary job ...\na non-zero exit code.\n1: " + error + kRule + "\n"),
            "0: " + error + "1: " + error);
  EXPECT_EQ(words.first_error() + "\n", error);
  EXPECT_FALSE(words.all_listen());
  EXPECT_EQ(words.pass("0: " + std::string(kAllListen) + "\n"), "");
  EXPECT_TRUE(words.all_listen());
  EXPECT_EQ(words.pass("1: " + kRule + "\n"), "1: " + kRule + "\n") << "a rank's own rule";
  MpirunWords plain;
  EXPECT_EQ(plain.pass("1: " + error), "1: " + error);
  EXPECT_EQ(plain.first_error(), "");
}

}  // namespace
}  // namespace roentgen::cli
