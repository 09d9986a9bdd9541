// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests `train --restart`, --hosts-from and --tag-output on the command line, and exit codes of ranks.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <thread>
#include <utility>

#include "tests/parallel/fault_injection.h"

namespace roentgen::e2e {
namespace {

using testing::HasSubstr;
using testing::Not;

using Restarts = FaultInjection;

TEST_F(Restarts, goes_on_after_a_killed_rank_to_the_same_bits) {
  const Fault fault{.place = "gradient bucket 0"};
  const Outcome outcome = inject("run", fault, {.restarts = 2});
  EXPECT_EQ(outcome.ended.code, 0) << outcome.ended.err;
  EXPECT_THAT(outcome.ended.err, HasSubstr("update 6, gradient bucket 0: expected a normal exit, got signal 9"));
  EXPECT_THAT(outcome.ended.err, HasSubstr("restart 1 of 2: 2 ranks go on from update 4"));
  EXPECT_THAT(outcome.ended.err, HasSubstr("resumed at step 4"));
  expect_same_bits("run", fault);
}

TEST_F(Restarts, begins_again_where_nothing_was_saved_and_overwrites_once) {
  const Fault fault{.place = "forward", .step = "1"};
  EXPECT_EQ(inject("run", fault, {.restarts = 1}).ended.code, 0);
  expect_same_bits("run", fault);
  const Outcome again = inject("run", {.place = "forward"}, {.restarts = 1, .faults = 1, .more = {"--overwrite"}});
  EXPECT_EQ(again.ended.code, 0) << again.ended.err;
  EXPECT_THAT(again.ended.err, HasSubstr("restart 1 of 1: 2 ranks go on from update 4"));
  expect_same_bits("run", fault);
}

TEST_F(Restarts, ends_when_the_same_update_fails_twice) {
  const Outcome outcome = inject("run", {.place = "forward"}, {.restarts = 9, .faults = 2});
  EXPECT_EQ(outcome.ended.code, 1);
  EXPECT_THAT(outcome.ended.err, HasSubstr("restart 1 of 9: 2 ranks go on from update 4"));
  EXPECT_THAT(outcome.ended.err, HasSubstr("restart: not again, since the same failure came twice from update 4: "
                                           "[cli.launch] rank 1 ("));
  EXPECT_THAT(outcome.ended.err, Not(HasSubstr("restart 2 of 9")));
}

TEST_F(Restarts, leaves_a_stop_and_bad_input_alone) {
  const Outcome outcome = inject("run", {.kind = FaultKind::Terminate, .place = "forward"}, {.restarts = 5});
  EXPECT_EQ(outcome.ended.code, 3) << outcome.ended.err;
  EXPECT_THAT(outcome.ended.err, Not(HasSubstr("restart")));
  const Ended bad = place_.run(ranks("bad", 2, {"--restart", "3", "--set", "train.accumulate=1000"}));
  expect_stop(bad, {"train.accumulate"});
  EXPECT_THAT(bad.err, Not(HasSubstr("restart")));
  expect_refusal(place_.run(train("bad", {"--restart", "1"})), {"--restart", "--ranks"});
}

// The first start of rank 0 is killed before the rank could refuse the folder itself.
TEST_F(Restarts, never_goes_on_with_an_earlier_run) {
  EXPECT_EQ(run_to_end("run", {}, {"--stop-after", "3"}).code, 3);
  const fs::path saved = place_ / "run/checkpoints/resume.safetensors";
  const std::string before = read_all(saved);
  const fs::path sign = place_ / "run.held";
  ::setenv("ROENTGEN_HOLD", ("0:start-up:any:" + sign.string()).c_str(), 1);
  Process process(job("run", {}, {"--restart", "2"}), place_.root(), {}, RG_HELD_PROGRAM);
  ::unsetenv("ROENTGEN_HOLD");
  bool is_killed = false;
  while (process.is_running()) {
    const std::string pid = fs::exists(sign) ? read_all(sign) : "";
    if (pid.ends_with('\n') && !std::exchange(is_killed, true)) hit({}, std::stoi(pid));
    if (pid.ends_with('\n')) fs::remove(sign);
    std::this_thread::yield();
  }
  const Ended ended = process.wait();
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("expected a new or empty folder"));
  EXPECT_TRUE(read_all(saved) == before);
}

// The test takes the lock of the run when rank 0 is killed, like a file server that keeps the lock of a lost host. It
// releases the lock when the program says that it waits.
TEST_F(Restarts, waits_for_the_lock_of_a_lost_rank) {
  const Fault fault{.place = "gradient bucket 0", .rank = 0};
  const fs::path sign = place_ / "run.held", said = place_ / "said.txt";
  ::setenv("ROENTGEN_HOLD", ("0:gradient bucket 0:5:" + sign.string()).c_str(), 1);
  Process process(job("run", fault, {"--restart", "1"}), place_.root(),
                  {"/bin/sh", "-c", "exec \"$@\" 2> " + said.string(), "sh"}, RG_HELD_PROGRAM);
  ::unsetenv("ROENTGEN_HOLD");
  ASSERT_TRUE(process.wait_for_lines(sign, 1));
  const int lock = ::open((place_ / "run/lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(lock, 0);
  hit(fault, std::stoi(read_all(sign)));
  EXPECT_EQ(::flock(lock, LOCK_EX), 0);  // waits until rank 0 has ended
  fs::remove(sign);
  while (process.is_running() && read_all(said).find("restart: waits up to 120 s") == std::string::npos) {
    std::this_thread::yield();
  }
  ::close(lock);
  while (process.is_running()) fs::remove(sign);  // the second start holds at the same place
  EXPECT_EQ(process.wait().code, 0) << read_all(said);
  EXPECT_THAT(read_all(said), HasSubstr("restart 1 of 1: 2 ranks go on from update 4"));
  expect_same_bits("run", fault);
}

TEST_F(Restarts, passes_a_signal_on_after_a_restart) {
  const Fault fault{.place = "gradient bucket 0"};
  const fs::path sign = place_ / "run.held";
  ::setenv("ROENTGEN_HOLD", ("1:gradient bucket 0:5:" + sign.string()).c_str(), 1);
  Process process(job("run", fault, {"--restart", "2"}), place_.root(), {}, RG_HELD_PROGRAM);
  ::unsetenv("ROENTGEN_HOLD");
  const auto held = [&](const std::string& other) {
    std::string pid;
    static_cast<void>(process.wait_until([&] {
      pid = fs::exists(sign) ? read_all(sign) : "";
      return pid.ends_with('\n') && pid != other;
    }));
    return pid;
  };
  const std::string first = held("");
  hit(fault, std::stoi(first));
  fs::remove(sign);
  const std::string second = held(first);
  ASSERT_TRUE(process.is_running());
  process.signal(SIGUSR1);
  fs::remove(sign);
  const Ended ended = process.wait();
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("stopped at step "));
}

// Only rank 0 looks for the initial weights; the other ranks end with code 1. MPICH's mpirun combines the codes.
TEST_F(Launch, bad_input_has_its_own_exit_code_on_named_hosts) {
  const Ended ended = place_.run(train("no", {"--hosts", "localhost:3", "--oversubscribe", "--restart", "2", "--set",
                                              "train.init=\"" + (place_ / "none.safetensors").string() + "\""}));
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("none.safetensors"));
  EXPECT_THAT(ended.err, Not(HasSubstr("restart")));
}

TEST_F(Launch, repeated_signals_change_no_exit_code) {
  Process process(ranks("run", 2, {"--set", "train.epochs=100000"}), place_.root());
  ASSERT_TRUE(process.wait_for_lines(place_ / "run/log.jsonl", 3));
  while (process.is_running()) {
    process.signal(SIGUSR1);
    std::this_thread::yield();
  }
  const Ended ended = process.wait();
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("stopped at step "));
}

TEST_F(Launch, hosts_come_from_files_and_jobs) {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  const std::string here = name.data();
  const std::string file = place_.write("hosts.txt", "# the cluster\n" + here + ":2 # this one\n");
  const std::vector<std::string> common{"--oversubscribe", "--comm-timeout", "20", "--verbose"};
  place_.must_run(ranks("plain", 2));
  const std::string nodes = place_.write("nodes", here + "\n" + here + "\n");
  const std::vector<std::pair<std::string, std::vector<std::string>>> jobs{
      {file, {}},
      {"pbs", {"PBS_NODEFILE=" + nodes}},
      {"slurm", {"SLURM_JOB_NODELIST=" + here, "SLURM_TASKS_PER_NODE=2"}}};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    SCOPED_TRACE(jobs[i].first);
    const std::string run = "run" + std::to_string(i);
    const Ended ended = Process(train(run, plus({"--hosts-from", jobs[i].first}, common)), place_.root(),
                                plus({"/usr/bin/env"}, jobs[i].second))
                            .wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("; 1 on " + here));
    expect_equal_tensors(place_ / run / "checkpoints/best.safetensors", place_ / "plain/checkpoints/best.safetensors");
  }
  expect_refusal(place_.run(train("no", {"--hosts-from", file, "--ranks", "3"})), {"--ranks", "at most 2"});
  expect_refusal(place_.run(train("no", {"--hosts-from", file, "--hosts", "a:2"})), {"--hosts"});
  expect_refusal(place_.run(train("no", {"--hosts-from", "pbs"})), {"PBS_NODEFILE"});
}

TEST_F(Launch, tagged_lines_name_their_ranks) {
  const Ended ended = place_.must_run(ranks("run", 2, {"--tag-output"}));
  for (const std::string& text : {ended.out, ended.err}) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(line.starts_with("0: ") || line.starts_with("1: ")) << line;
    }
  }
  EXPECT_THAT(ended.out, HasSubstr("0: weights: "));
  EXPECT_THAT(ended.err, HasSubstr("\n1: "));
  EXPECT_THAT(ended.out, Not(HasSubstr("1: weights")));
  expect_refusal(place_.run(train("no", {"--tag-output"})), {"--tag-output", "--ranks"});
  const Ended failed = place_.run(ranks("no", 2, {"--tag-output", "--set", "train.accumulate=1000"}));
  EXPECT_EQ(failed.code, 2);
  EXPECT_THAT(failed.err, HasSubstr(": [train."));
}

// Runs with 1, 2 and 4 ranks, and with global batches of 4, 8 and 16 images.
TEST_F(Launch, compare_shows_ranks_and_batches_of_runs_of_several_numbers_of_ranks) {
  const std::vector<std::string> small{"--set", "train.batch=4", "--set", "train.epochs=2"};
  place_.must_run(train("r1", small));
  place_.must_run(ranks("r2", 2, small));
  place_.must_run(ranks("r4", 4, plus(small, {"--set", "train.accumulate=2"})));
  const Ended run =
      place_.must_run({"compare", place_ / "r1", place_ / "r2", place_ / "r4", "--labels",
                       data_ / "Data_Entry_2017_v2020.csv", "--replicates", "50", "--json", place_ / "compare.json"});
  EXPECT_THAT(run.out, HasSubstr("r1 (1 rank, 4 images an update)"));
  EXPECT_THAT(run.out, HasSubstr("r2 (2 ranks, 8 images an update)"));
  EXPECT_THAT(run.out, HasSubstr("r4 (4 ranks, 32 images an update)"));
  EXPECT_THAT(run.out, HasSubstr("images an update  mean AUROC"));
  const Value json = read_json(place_ / "compare.json");
  EXPECT_EQ(json.at("a").at("ranks"), Value(1));
  EXPECT_EQ(json.at("b").at("images_per_update"), Value(8));
  const Value& last = json.at("more").as_array().at(0);
  EXPECT_EQ(last.at("b").at("ranks"), Value(4));
  EXPECT_EQ(last.at("b").at("images_per_update"), Value(32));
  EXPECT_EQ(last.at("a").at("predictions_sha256"), json.at("a").at("predictions_sha256")) << "each against A";
  const double a = last.at("mean").at("a").at("value").as_double(), b = last.at("mean").at("b").at("value").as_double();
  EXPECT_NEAR(last.at("mean").at("delta").at("value").as_double(), b - a, 1e-12);
  expect_refusal(place_.run({"compare", place_ / "r1", place_ / "r2", place_ / "r4", "--labels",
                             data_ / "Data_Entry_2017_v2020.csv", "--csv", place_ / "all.csv"}),
                 {"--csv", "only two models, A and B"});
}

}  // namespace
}  // namespace roentgen::e2e
