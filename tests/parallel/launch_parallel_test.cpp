// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests `roentgen train --ranks N`: its files, its messages, and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "io/json.h"
#include "tests/e2e/program.h"
#include "tests/parallel/fault_injection.h"
#include "tests/parallel/launch.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(Launch, two_ranks_leave_the_files_of_one_run) {
  const Ended ended = place_.must_run(ranks("two", 2, {"--json", place_ / "two.json", "--verbose"}));
  EXPECT_THAT(ended.err, HasSubstr("ranks: 0 on "));
  EXPECT_EQ(std::count(ended.out.begin(), ended.out.end(), '\n'),
            std::ranges::count(place_.must_run(train("one")).out, '\n'))
      << "rank 0 alone speaks";
  EXPECT_EQ(read_json(place_ / "two.json").at("finished").as_bool(), true);
  EXPECT_NE(read_json(place_ / "two/environment.json").find_path("libraries.mpi"), nullptr);
  EXPECT_EQ(read_json(place_ / "one/environment.json").find_path("libraries.mpi"), nullptr);
  expect_nothing_half_written(place_ / "two");
  place_.must_run({"eval", "--checkpoint", place_ / "two/checkpoints/best.safetensors", "--data", data_});
}

TEST_F(Launch, hosts_give_the_number_of_ranks) {
  const Ended ended = place_.must_run(train("two", {"--hosts", "localhost:2", "--oversubscribe", "--verbose"}));
  EXPECT_THAT(ended.err, HasSubstr("ranks: 0 on "));
  EXPECT_THAT(ended.err, HasSubstr("; 1 on "));
}

TEST_F(Launch, what_is_refused_is_said_once) {
  expect_stop(place_.run(ranks("no", 2, {"--set", "train.accumulate=1000"})), {"train.accumulate"});
  expect_refusal(place_.run(train("no", {"--hosts", "localhost:x"})), {"--hosts", "for localhost, got localhost:x"});
  expect_refusal(place_.run(train("no", {"--reduce", "magic"})), {"magic", "allreduce", "tree"});
  EXPECT_FALSE(fs::exists(place_ / "no"));
}

TEST_F(Launch, one_process_needs_no_mpi_and_several_say_once_that_there_is_none) {
  const std::vector<std::string> without_mpi{"/usr/bin/env", "ROENTGEN_MPI=/nowhere/libmpi.so"};
  EXPECT_EQ(Process(train("one"), place_.root(), without_mpi).wait().code, 0);
  const Ended ended = Process(ranks("two", 2), place_.root(), without_mpi).wait();
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, StartsWith("[dist.mpi] communicator mpi: expected an MPI library on this machine, got "
                                    "/nowhere/libmpi.so: cannot open shared object file: "));
  EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
  EXPECT_FALSE(fs::exists(place_ / "two"));
}

TEST_F(Launch, more_threads_than_cores_are_refused) {
  const Ended ended = place_.run(train("many", {"--ranks", std::to_string(std::thread::hardware_concurrency() + 1)}));
  expect_stop(ended, {"cli.launch", "compute threads", "--oversubscribe"});
}

// Number of events in a trace whose names begin with `prefix`, by rank.
std::map<std::int64_t, int> count(const Value& trace, std::string_view prefix) {
  std::map<std::int64_t, int> counts;
  for (const Value& event : trace.at("traceEvents").as_array()) {
    if (event.at("name").as_string().starts_with(prefix)) ++counts[event.at("pid").as_integer()];
  }
  return counts;
}

TEST_F(Launch, a_benchmark_starts_a_group_for_each_point) {
  place_.must_run({"bench",     "scaling",
                   "--ranks",   "1,2",
                   "--model",   "resnet18",
                   "--batch",   "2",
                   "--image",   "32",
                   "--threads", "1",
                   "--steps",   "2",
                   "--warmup",  "1",
                   "--repeat",  "1",
                   "--device",  "emulated:50",
                   "--trace",   place_ / "traces",
                   "--json",    place_ / "scaling.json"});
  const Value result = read_json(place_ / "scaling.json");
  ASSERT_EQ(result.at("points").as_array().size(), 2U);
  EXPECT_EQ(result.at("points").as_array()[1].at("ranks").as_integer(), 2);
  EXPECT_EQ(result.at("points").as_array()[1].at("kind").as_string(), "emulated");
  const Value trace = read_json(place_ / "traces/ranks-2.json");
  EXPECT_EQ(count(trace, "step "), (std::map<std::int64_t, int>{{0, 3}, {1, 3}})) << "warm-up too";
  EXPECT_EQ(count(read_json(place_ / "traces/ranks-1.json"), "step "), (std::map<std::int64_t, int>{{0, 3}}));
}

TEST_F(Launch, a_benchmark_of_hosts_warns_once) {
  const Ended run = place_.run({"bench", "nodes", "--ranks", "2", "--model", "resnet18", "--batch", "2", "--image",
                                "32", "--threads", "1", "--slow", "1.000001", "--json", place_ / "nodes.json"});
  EXPECT_EQ(run.code, 0) << run.err;
  const Value warnings = read_json(place_ / "nodes.json").at("warnings");
  EXPECT_FALSE(warnings.as_array().empty()) << "of two one takes longer than their median";
  for (const Value& warning : warnings.as_array()) {
    const std::size_t first = run.err.find(warning.as_string());
    EXPECT_NE(first, std::string::npos) << run.err;
    EXPECT_EQ(run.err.find(warning.as_string(), first + 1), std::string::npos) << run.err;
  }
}

// Losses of the updates that a run logged.
std::vector<double> losses_of(const fs::path& run) {
  std::vector<double> losses;
  std::istringstream lines(read_all(run / "log.jsonl"));
  for (std::string text; std::getline(lines, text);) {
    const Value line = io::parse_json(text, "log.jsonl").or_throw();
    if (line.at("kind").as_string() == "step") losses.push_back(line.at("loss").as_double());
  }
  return losses;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = a.size() == b.size() ? 0.0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST_F(Launch, batch_norm_over_ranks_makes_the_losses_of_one_process) {
  // A network without dropout, because each rank draws its own masks. Uses sgd, because adam turns rounding errors into
  // whole steps.
  const fs::path net = place_.write("plain.txt", R"(graph "plain"
input image (N, C, S, S)
conv1 = conv2d(image, out=16, kernel=3x3, stride=2x2, pad=1x1, bias=no)
norm1 = batch_norm(conv1)
relu1 = relu(norm1)
pool = global_avg_pool(relu1)
flat = flatten(pool)
fc = linear(flat, out=K)
output logits = fc
)");
  const auto losses = [&](std::vector<std::string> arguments, const std::string& batch, const std::string& kind) {
    arguments[std::ranges::find(arguments, "--model") - arguments.begin() + 1] = net;
    place_.must_run(plus(arguments, {"--set", "train.epochs=1", "--set", "optimizer.name=sgd", "--set",
                                     "train.batch=" + batch, "--set", "train.batch_norm=" + kind}));
    return losses_of(arguments[std::ranges::find(arguments, "--out") - arguments.begin() + 1]);
  };
  const std::vector<double> one = losses(train("one"), "8", "sync");
  ASSERT_GT(one.size(), 3U);
  // Tolerance for means of float32 sums in another order.
  EXPECT_LE(largest_difference(losses(ranks("sync", 2), "4", "sync"), one), 1e-5);
  EXPECT_GE(largest_difference(losses(ranks("local", 2), "4", "local"), one), 1e-3);
}

TEST_F(Launch, a_trace_has_all_ranks_on_one_axis) {
  place_.must_run(ranks("traced", 2, {"--trace", "--trace-steps", "2", "--set", "train.epochs=1"}));
  const Value trace = read_json(place_ / "traced/trace.json");
  EXPECT_EQ(trace.at("otherData").at("ranks").as_integer(), 2);
  std::map<std::int64_t, int> steps = count(trace, "step ");
  std::map<std::int64_t, int> buckets = count(trace, "gradient bucket ");
  EXPECT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0], 2);
  EXPECT_EQ(steps[1], 2);
  EXPECT_GE(buckets[0], 2);
  EXPECT_EQ(buckets[0], buckets[1]);
}

// Several updates pass until all ranks know of a signal.
const std::vector<std::string> kManyUpdates{"--set", "train.epochs=100"};

TEST_F(Launch, a_signal_stops_all_ranks_and_the_rest_makes_the_same_bits) {
  place_.must_run(ranks("whole", 2, kManyUpdates));
  Process process(ranks("parts", 2, kManyUpdates), place_.root());
  ASSERT_TRUE(process.wait_for_lines(place_ / "parts/log.jsonl", 3));
  process.signal(SIGTERM);
  const Ended stopped = process.wait();
  EXPECT_EQ(stopped.code, 3) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("resume with --resume"));
  EXPECT_TRUE(all_gone(place_ / "parts"));
  place_.must_run(ranks("parts", 2, plus(kManyUpdates, {"--resume"})));
  expect_equal_tensors(place_ / "parts/checkpoints/resume.safetensors",
                       place_ / "whole/checkpoints/resume.safetensors");
}

TEST_F(Launch, a_signal_during_start_up_is_not_lost) {
  place_.must_run(ranks("whole", 2, kManyUpdates));
  Process process(ranks("parts", 2, kManyUpdates), place_.root());
  while (ranks_in(place_ / "parts").empty() && process.is_running()) std::this_thread::yield();
  process.signal(SIGTERM);
  const Ended stopped = process.wait();
  EXPECT_EQ(stopped.code, 3) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("resume with --resume"));
  place_.must_run(ranks("parts", 2, plus(kManyUpdates, {"--resume"})));
  expect_equal_tensors(place_ / "parts/checkpoints/resume.safetensors",
                       place_ / "whole/checkpoints/resume.safetensors");
}

TEST_F(Launch, a_benchmark_that_fails_says_why_once) {
  const Ended ended = place_.run({"bench", "scaling", "--ranks", "2", "--model", "no_such_net", "--batch", "2"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("no_such_net"));
}

TEST_F(Launch, a_benchmark_is_over_at_the_first_signal) {
  const std::string endless = "987654";  // number that occurs only in the command lines of its ranks
  const fs::path temporary = place_ / "tmp";
  fs::create_directory(temporary);
  Process process({"bench", "scaling", "--ranks", "2,1", "--model", "resnet18", "--batch", "2", "--image", "32",
                   "--threads", "1", "--device", "emulated:50", "--steps", endless},
                  place_.root(), {"/usr/bin/env", "TMPDIR=" + temporary.string()});
  while (ranks_in(endless).empty() && process.is_running()) std::this_thread::yield();
  process.signal(SIGINT);
  const Ended ended = process.wait();
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("expected a normal end, got signal 2 (Interrupt)"));
  EXPECT_TRUE(all_gone(endless));
  for (const auto& left : fs::directory_iterator(temporary)) {  // mpirun's own files may be there
    EXPECT_FALSE(left.path().filename().string().starts_with("roentgen")) << left.path();
  }
}

TEST_F(Launch, a_killed_rank_ends_all_and_the_rest_makes_the_same_bits) {
  const std::vector<std::string> often{"--set", "train.checkpoint_steps=2", "--set", "train.epochs=20"};
  place_.must_run(ranks("whole", 3, often));
  Process process(ranks("parts", 3, often), place_.root());
  ASSERT_TRUE(process.wait_for_lines(place_ / "parts/log.jsonl", 4));
  const std::vector<pid_t> alive = ranks_in(place_ / "parts");
  ASSERT_EQ(alive.size(), 3U);
  ::kill(alive.back(), SIGKILL);
  const Ended ended = process.wait();
  EXPECT_NE(ended.code, 0);
  EXPECT_THAT(ended.err, HasSubstr("[cli.launch] rank "));
  EXPECT_TRUE(all_gone(place_ / "parts"));
  place_.must_run(ranks("parts", 3, plus(often, {"--resume"})));
  expect_equal_tensors(place_ / "parts/checkpoints/resume.safetensors",
                       place_ / "whole/checkpoints/resume.safetensors");
}

// Without this check, Open MPI's mpirun would wait forever.
TEST_F(Launch, is_refused_where_files_may_not_be_opened_for_all_ranks) {
  Process process(ranks("run", 2), place_.root(), {"/bin/sh", "-c", "ulimit -n 24; exec \"$@\"", "sh"});
  const Ended run = process.wait();
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err,
              HasSubstr("[cli.launch] ulimit -n: expected a limit of 44 open files or more for 2 ranks, got 24; try "));
  EXPECT_FALSE(fs::exists(place_ / "run"));
}

TEST_F(Launch, a_rank_that_stands_still_is_named) {
  Process process(plus(train("still", {"--ranks", "2", "--oversubscribe", "--comm-timeout", "1"}), kManyUpdates),
                  place_.root());
  ASSERT_TRUE(process.wait_for_lines(place_ / "still/log.jsonl", 2));
  const std::vector<pid_t> alive = ranks_in(place_ / "still");
  ASSERT_EQ(alive.size(), 2U);
  ::kill(alive.back(), SIGSTOP);
  const Ended ended = process.wait();
  EXPECT_NE(ended.code, 0);
  EXPECT_THAT(ended.err, HasSubstr("no sign of rank "));
  EXPECT_TRUE(all_gone(place_ / "still"));
}

TEST_F(Launch, an_evaluation_by_ranks_has_the_digits_of_one_process) {
  place_.must_run(train("run"));
  const auto evaluate = [&](const std::string& name, const std::vector<std::string>& more) {
    return place_.must_run(plus({"eval",
                                 "--checkpoint",
                                 place_ / "run/checkpoints/best.safetensors",
                                 "--data",
                                 data_,
                                 "--split",
                                 "val",
                                 "--set",
                                 "data.val_fraction=0.5",
                                 "--allow-overlap",
                                 "--batch",
                                 "4",
                                 "--tta",
                                 "flip",
                                 "--metrics",
                                 "all",
                                 "--replicates",
                                 "50",
                                 "--preds",
                                 place_ / (name + "_preds.csv"),
                                 "--json",
                                 place_ / (name + ".json")},
                                more));
  };
  // Result of the check for equal pixels, which every rank runs on its own images.
  const auto overlap_of = [](const Ended& ended) {
    const std::size_t at = ended.err.find("test images with the pixels of");
    return at == std::string::npos ? "none" : ended.err.substr(ended.err.rfind("got ", at), 40);
  };
  const Ended one = evaluate("one", {});
  EXPECT_THAT(overlap_of(one), testing::StartsWith("got "));
  for (const char* ranks : {"2", "3"}) {
    const Ended shared = evaluate(ranks, {"--ranks", ranks, "--oversubscribe"});
    EXPECT_EQ(shared.out, one.out);
    EXPECT_EQ(overlap_of(shared), overlap_of(one));
    EXPECT_EQ(read_all(place_ / (std::string(ranks) + "_preds.csv")), read_all(place_ / "one_preds.csv"));
    EXPECT_EQ(read_all(place_ / (std::string(ranks) + ".json")), read_all(place_ / "one.json"));
  }
}

TEST_F(Launch, an_evaluation_by_ranks_refuses_a_leak_once) {
  place_.must_run(train("run"));
  const Ended ended =
      place_.run({"eval", "--checkpoint", place_ / "run/checkpoints/best.safetensors", "--data", data_, "--split",
                  "val", "--set", "data.val_fraction=0.5", "--ranks", "2", "--oversubscribe"});
  expect_stop(ended, {"eval.leak", "--allow-overlap"});
  expect_refusal(place_.run({"eval", "--predictions", "p.csv", "--labels", "l.csv", "--ranks", "2"}),
                 {"eval --ranks", "--checkpoint FILE"});
}

// Expects a trace of two ranks, one of which failed in the sixth update.
void expect_trace_of_five_updates(const fs::path& run) {
  const Value trace = read_json(run / "trace.json");
  EXPECT_FALSE(trace.at("otherData").at("is_whole").as_bool());
  for (const char* name : {"step ", "forward", "gradient bucket 0"}) {
    std::map<std::int64_t, int> counts = count(trace, name);
    EXPECT_GE(counts[0], 5) << name;
    EXPECT_GE(counts[1], 5) << name;
  }
  EXPECT_EQ(count(trace, "step ")[1], 5);
  EXPECT_FALSE(fs::exists(run / "trace.parts"));
}

TEST_F(Launch, the_next_start_makes_the_trace_of_a_process_that_was_killed) {
  Process process(plus(train("killed", {"--trace", "--set", "train.checkpoint_steps=2"}), kManyUpdates), place_.root());
  ASSERT_TRUE(process.wait_for_lines(place_ / "killed/log.jsonl", 4));
  process.signal(SIGKILL);
  EXPECT_EQ(process.wait().code, 128 + SIGKILL);
  EXPECT_FALSE(fs::exists(place_ / "killed/trace.json"));
  place_.must_run(plus(train("killed", {"--resume"}), kManyUpdates));
  const Value trace = read_json(place_ / "killed/trace.json");
  EXPECT_FALSE(trace.at("otherData").at("is_whole").as_bool());
  EXPECT_GE(count(trace, "step ")[0], 4);
  EXPECT_FALSE(fs::exists(place_ / "killed/trace.parts"));
}

// Two cases of fault_matrix_slow_test.cpp.
TEST_F(FaultInjection, a_rank_that_is_killed_in_a_bucket_is_named_with_its_place) {
  const Fault fault{.kind = FaultKind::Kill, .place = "gradient bucket 0", .is_traced = true};
  const Outcome outcome = inject("faulty", fault);
  EXPECT_THAT(outcome.ended.err, HasSubstr(", update 6, gradient bucket 0: expected a normal exit, got signal 9"));
  expect_trace_of_five_updates(place_ / "faulty");
  expect_same_bits_after_resume("faulty", fault);
  EXPECT_TRUE(read_json(place_ / "faulty/trace.json").at("otherData").at("is_whole").as_bool());
}

TEST_F(FaultInjection, a_rank_that_is_killed_on_another_host_is_named_with_its_place) {
  if (!has_hosts()) GTEST_SKIP() << "no network namespaces can be made here";
  const Outcome outcome = inject(
      "faulty", {.kind = FaultKind::Kill, .place = "gradient bucket 0", .ranks = 4, .rank = 3, .has_two_hosts = true});
  const std::string& said = outcome.ended.err;
  EXPECT_THAT(said, HasSubstr("rank 3 (host2), update 6, gradient bucket 0: expected a normal exit, got signal 9"));
  EXPECT_EQ(said.find("got signal"), said.rfind("got signal")) << said;
}

TEST_F(FaultInjection, a_run_that_waits_in_vain_leaves_a_trace) {
  const Fault fault{.kind = FaultKind::Stop, .place = "optimizer", .is_traced = true};
  const Outcome outcome = inject("faulty", fault);
  EXPECT_THAT(outcome.ended.err, HasSubstr("no sign of rank 1 ("));
  expect_trace_of_five_updates(place_ / "faulty");
}

TEST_F(FaultInjection, a_rank_that_stands_still_in_a_checkpoint_is_named) {
  const Fault fault{.kind = FaultKind::Stop, .place = "checkpoint", .rank = 0};
  const Outcome outcome = inject("faulty", fault);
  EXPECT_THAT(outcome.ended.err, HasSubstr("no sign of rank 0 ("));
  expect_same_bits_after_resume("faulty", fault);
}

// After all work, only MPI_Finalize is left, which waits for all ranks without a time limit.
TEST_F(FaultInjection, a_rank_that_stands_still_at_the_end_holds_nobody_up) {
  const Fault fault{.kind = FaultKind::Stop, .place = "end", .step = "any"};
  const Outcome outcome = inject("faulty", fault);
  EXPECT_EQ(outcome.ended.code, 0) << outcome.ended.err;
  EXPECT_THAT(outcome.ended.err, HasSubstr("[cli.launch] mpirun: expected an end within 5 s after rank 0 ended"));
  EXPECT_EQ(Process(job("whole", fault), place_.root(), {}).wait().code, 0);
  expect_equal_tensors(place_ / "faulty/checkpoints/resume.safetensors",
                       place_ / "whole/checkpoints/resume.safetensors");
}

}  // namespace
}  // namespace roentgen::e2e
