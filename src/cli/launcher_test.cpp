// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests of waiting for a group of ranks. Shell scripts replace mpirun and send signals to this process.
#include "cli/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "cli/mpirun_words.h"
#include "cli/rank_guard.h"
#include "cli/signals_testing.h"
#include "core/error.h"
#include "core/folder_testing.h"

namespace roentgen::cli {
namespace {

// Shell functions that write the messages of rank 0. Its activity is in line 5 of 128 bytes.
constexpr const char* kWords = R"(
ready() { printf ready | dd of="$ROENTGEN_LAUNCHER" conv=notrunc status=none; }
reaches() { printf "$1" | dd of="$ROENTGEN_LAUNCHER" bs=1 seek=640 conv=notrunc status=none; }
ended() { printf "$1" | dd of="$ROENTGEN_LAUNCHER" bs=1 seek=128 conv=notrunc status=none; }
)";

GroupEnd run(const std::string& script, const GroupOptions& options = {.on_signal = OnSignal::Save}) {
  const KeptHandlers handlers;
  return run_group({"/bin/sh", "-c", kWords + script}, options);
}

TEST(RunGroup, gives_the_exit_code_and_passes_on_what_is_said) {
  testing::internal::CaptureStderr();
  const GroupEnd end = run("echo '[proxy:0:0@hal] error' >&2; echo of a rank >&2; exit 2");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "of a rank\n[proxy:0:0@hal] error\n");
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_EQ(end.signal, 0);
}

TEST(RunGroup, keeps_a_signal_until_all_can_stop) {
  // A signal before the trap is set would end the shell with exit code 128 + 10.
  const GroupEnd end = run(R"(kill -TERM $PPID
    i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done
    trap 'exit 3' USR1; ready; while :; do :; done)");
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.signal, SIGTERM);
}

TEST(RunGroup, keeps_a_signal_until_rank_0_of_another_host_says_that_all_can_stop) {
  testing::internal::CaptureStderr();
  const GroupEnd end =
      run("kill -TERM $PPID\n"
          "i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done\n"
          "trap 'exit 3' USR1; echo '" +
              std::string(kAllListen) + "' >&2; while :; do :; done",
          {.on_signal = OnSignal::Save, .may_be_remote = true});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.signal, SIGTERM);
}

TEST(RunGroup, a_second_signal_ends_what_has_not_saved) {
  EXPECT_EQ(
      run(R"(trap 'kill -TERM $PPID' USR1; trap 'exit 5' TERM; ready; kill -INT $PPID; while :; do :; done)").exit_code,
      5);
}

TEST(RunGroup, a_second_signal_changes_no_exit_code_of_what_has_saved) {
  EXPECT_EQ(run(R"(trap 'ended 3; kill -TERM $PPID' USR1; trap 'exit 1' TERM
    ready; kill -INT $PPID; while :; do :; done)")
                .exit_code,
            3);
}

TEST(RunGroup, what_cannot_save_ends_at_the_first_signal) {
  const GroupEnd end = run("trap 'exit 5' TERM; kill -INT $PPID; while :; do :; done", {.on_signal = OnSignal::End});
  EXPECT_EQ(end.exit_code, 5);
  EXPECT_EQ(end.signal, SIGINT);
}

TEST(RunGroup, names_who_was_killed_and_where) {
  testing::internal::CaptureStderr();
  const GroupEnd end =
      run(R"(printf 'update 4, forward' | dd of="$ROENTGEN_LAUNCHER" bs=1 seek=768 conv=notrunc status=none
    rule=$(printf %80s | tr ' ' -)
    echo "$rule" >&2
    echo 'mpirun noticed that process rank 1 with PID 0 on node hal exited on signal 9 (Killed).' >&2
    echo "$rule" >&2
    exit 137)",
          {.on_signal = OnSignal::Save, .has_resume = true, .ranks = 2});
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      testing::StartsWith(
          "[cli.launch] rank 1 (hal), update 4, forward: expected a normal exit, got signal 9 (Killed); try --resume"));
}

// Shell functions that write a guard's message about a killed rank, on this host and on another host.
constexpr const char* kGuards = R"(
killed() { printf "$1" | dd of="$ROENTGEN_LAUNCHER" bs=1 seek=384 conv=notrunc status=none; }
printf 'update 4, forward' | dd of="$ROENTGEN_LAUNCHER" bs=1 seek=768 conv=notrunc status=none
)";

TEST(RunGroup, a_guard_is_believed_and_not_mpirun) {
  testing::internal::CaptureStderr();
  const GroupEnd end =
      run(std::string(kGuards) + "echo '[mpiexec@hal] error' >&2; killed '1 9'; exit 255", {.ranks = 2});
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::MatchesRegex("\\[cli.launch\\] rank 1 \\([^ ]+\\), update 4, forward: expected a normal exit, "
                                    "got signal 9 \\(Killed\\); try running the command again[^\n]*\n"));
}

TEST(RunGroup, what_the_first_failed_rank_ends_with_is_the_exit_code) {
  const std::string failed = R"(printf 2 | dd of="$ROENTGEN_LAUNCHER" bs=1 seek=256 conv=notrunc status=none; exit 9)";
  EXPECT_EQ(run(failed).exit_code, 2);
  EXPECT_EQ(run(failed, {.may_be_remote = true}).exit_code, 2);
  testing::internal::CaptureStderr();
  const std::string line = std::string(kFirstFailure) + "2";
  EXPECT_EQ(run("echo '" + line + "' >&2; exit 3", {.may_be_remote = true}).exit_code, 2) << "on another host";
  EXPECT_EQ(run("echo '1: " + line + "' >&2; exit 3", {.is_tagged = true, .may_be_remote = true}).exit_code, 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(RunGroup, what_a_guard_of_another_host_says_is_said_once) {
  testing::internal::CaptureStderr();
  const std::string line = text_of({.rank = 1, .host = "hal", .signal = 11}, "update 2, input", true) + "\n";
  const GroupEnd end = run("printf '" + line + line + "' >&2; exit 139", {.ranks = 2, .may_be_remote = true});
  EXPECT_EQ(end.exit_code, 139);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), line);
}

TEST(RunGroup, waits_for_ranks_that_mpirun_does_not_wait_for) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "rank").string();
  EXPECT_EQ(run(R"(sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; echo done > ")" + file + R"("' &
    printf $! | dd of="$ROENTGEN_LAUNCHER" bs=1 seek=736 conv=notrunc status=none)")
                .exit_code,
            0);
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(RunGroup, mpirun_that_waits_for_hosts_after_a_failure_is_ended) {
  const GroupEnd end = run(R"(trap '' TERM
    printf 2 | dd of="$ROENTGEN_LAUNCHER" bs=1 seek=256 conv=notrunc status=none; while :; do :; done)",
                           {.on_signal = OnSignal::Save, .may_be_remote = true});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_EQ(end.signal, 0);
}

// The first script ignores SIGTERM. The second ends with its own exit code and prints a message like an MPI library's.
TEST(RunGroup, mpirun_that_stays_after_the_end_of_rank_0_is_ended) {
  for (const char* stays : {"trap '' TERM; ended 3; while :; do :; done",
                            "trap 'killed 1 15; exit 143' TERM; ended 3; while :; do :; done"}) {
    testing::internal::CaptureStderr();
    const GroupEnd end = run(std::string(kGuards) + stays,
                             {.on_signal = OnSignal::Save, .ranks = 2, .after_end = std::chrono::milliseconds(1)});
    EXPECT_EQ(end.exit_code, 3) << stays;
    EXPECT_EQ(end.signal, 0);
    EXPECT_THAT(
        testing::internal::GetCapturedStderr(),
        testing::StartsWith("[cli.launch] mpirun: expected an end within 0.001 s after rank 0 ended, got no end"));
  }
}

TEST(RunGroup, mpirun_has_time_after_the_end_of_rank_0) {
  testing::internal::CaptureStderr();
  const GroupEnd end = run("ended 3; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exit 3");
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(RunGroup, ranks_that_do_not_come_up_are_named_and_ended) {
  for (const char* ignores : {"", "trap '' TERM;"}) {
    testing::internal::CaptureStderr();
    const GroupEnd end =
        run(ignores + std::string("reaches start-up; while :; do :; done"),
            {.ranks = 2, .may_be_remote = true, .has_other_hosts = true, .to_start = std::chrono::milliseconds(1)});
    EXPECT_EQ(end.exit_code, 1);
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                testing::MatchesRegex("\\[cli.launch\\] ranks 0, 1, start-up: expected all 2 ranks \\(processes\\) to "
                                      "start within 0.001 s, got no sign of these processes on [^\n]*\n"));
  }
}

// Waits longer than the interval in which the limits are checked.
constexpr const char* kWorks = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exit 0";

TEST(RunGroup, the_limit_of_the_start_begins_with_the_first_rank_and_ends_when_ranks_are_connected) {
  for (const char* place : {"", "reaches preparation; "}) {
    const GroupEnd end = run(place + std::string(kWorks), {.ranks = 2, .to_start = std::chrono::milliseconds(1)});
    EXPECT_EQ(end.exit_code, 0) << place;
  }
}

TEST(RunGroup, ranks_of_this_host_that_are_only_slow_get_more_time) {
  EXPECT_EQ(run("reaches start-up; " + std::string(kWorks), {.to_start = std::chrono::milliseconds(1)}).exit_code, 0);
  testing::internal::CaptureStderr();
  const GroupEnd end = run("reaches start-up; while :; do :; done",
                           {.to_start = std::chrono::milliseconds(1), .to_begin = std::chrono::milliseconds(200)});
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::StartsWith("[cli.launch] rank 0, start-up: expected all 1 ranks (processes) to start within 0.2 "
                                  "s, got no sign of this process on "));
}

TEST(RunGroup, ranks_of_other_hosts_that_do_not_come_up_are_named_and_ended) {
  testing::internal::CaptureStderr();
  const GroupEnd end =
      run("while :; do :; done",
          {.ranks = 2, .may_be_remote = true, .has_other_hosts = true, .to_begin = std::chrono::milliseconds(200)});
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::StartsWith("[cli.launch] ranks 0, 1, start-up: expected all 2 ranks (processes) to start within "
                                  "0.2 s, got no sign of these processes on "));
}

TEST(RunGroup, mpirun_that_hangs_after_a_killed_rank_is_ended) {
  testing::internal::CaptureStderr();
  const GroupEnd end = run(std::string(kGuards) + "trap '' TERM; killed '1 9'; while :; do :; done", {.ranks = 2});
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::StartsWith("[cli.launch] rank 1 ("));
}

TEST(RunGroup, mpirun_that_is_killed_is_named) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run("kill -9 $$").exit_code, 137);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::StartsWith("[cli.launch] mpirun: expected a normal exit, got signal 9 (Killed); try "));
}

TEST(RunGroup, a_rank_that_is_killed_while_it_saves_is_named) {
  testing::internal::CaptureStderr();
  const GroupEnd end =
      run(std::string(kGuards) + "trap \"killed '1 9'; exit 137\" USR1; ready; kill -TERM $PPID; while :; do :; done");
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("rank 1 ("));
}

TEST(RunGroup, an_exit_code_that_is_no_signal_is_none) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run("exit 255").exit_code, 255);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::StartsWith("[cli.launch] mpirun: expected all ranks to start, got exit code 255; try "));
}

TEST(RunGroup, a_hang_up_saves_however_often_it_comes) {
  const GroupEnd end = run(R"(trap 'kill -HUP $PPID; i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done; exit 3' USR1
    trap 'exit 9' TERM; ready; kill -HUP $PPID; while :; do :; done)");
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.signal, SIGHUP);
}

TEST(RunGroup, a_hang_up_is_ignored_under_nohup) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  const GroupEnd end = run("ready; kill -HUP $PPID; exit 0");
  std::signal(SIGHUP, before);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.signal, 0);
}

TEST(RunGroup, an_mpirun_that_begins_no_rank_is_ended_and_the_causes_named) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run("while :; do :; done", {.to_begin = std::chrono::milliseconds(200)}).exit_code, 1);
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      testing::StartsWith("[cli.launch] mpirun: expected a first process within 0.2 s, got no process; try a larger "
                          "ulimit -n ("));
}

volatile std::sig_atomic_t heard = 0;

TEST(RunGroup, signals_go_where_they_went_before_once_it_is_over) {
  struct sigaction own {
  }, before{};
  own.sa_handler = [](int signal) { heard = signal; };
  ASSERT_EQ(::sigaction(SIGUSR1, &own, &before), 0);
  EXPECT_EQ(run_group({"/bin/true"}, {}).exit_code, 0);
  ::raise(SIGUSR1);
  EXPECT_EQ(heard, SIGUSR1);
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST(RunGroup, without_mpirun_says_so) {
  EXPECT_THROW(static_cast<void>(run_group({"/nowhere/mpirun"}, {})), ConfigError);
  EXPECT_THROW(static_cast<void>(run_group({"/etc/passwd"}, {})), ConfigError) << "not to be executed";
}

}  // namespace
}  // namespace roentgen::cli
