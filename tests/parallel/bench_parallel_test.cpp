// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests benchmark cases that train with several ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "tests/parallel/launch.h"

namespace roentgen::e2e {
namespace {

using testing::HasSubstr;

TEST_F(Launch, a_short_test_compares_numbers_of_ranks) {
  place_.must_run({"bench",
                   "short",
                   "--ranks",
                   "1,2",
                   "--model",
                   "resnet18",
                   "--batch",
                   "2",
                   "--image",
                   "32",
                   "--threads",
                   "1",
                   "--steps",
                   "4",
                   "--warmup",
                   "1",
                   "--oversubscribe",
                   "--device",
                   "cpu",
                   "--ledger",
                   "none",
                   "--json",
                   place_ / "short.json"});
  const Value result = read_json(place_ / "short.json");
  ASSERT_EQ(result.at("points").as_array().size(), 2U);
  EXPECT_EQ(result.at("n").as_integer(), 4) << "equal in both rows";
  EXPECT_EQ(result.at("points").as_array()[1].at("ranks").as_integer(), 2);
  EXPECT_EQ(result.at("points").as_array()[1].at("samples").at("step_s").as_array().size(), 4U);
  EXPECT_EQ(result.at("reduce").as_string(), "auto") << "a setting of the record";
  EXPECT_EQ(result.find("formula"), nullptr) << "each number of devices has its own";
}

TEST_F(Launch, a_sweep_measures_numbers_of_ranks) {
  const std::vector<std::string> words{"bench",
                                       "sweep",
                                       "--ranks",
                                       "2,1",
                                       "--model",
                                       "resnet18",
                                       "--batch",
                                       "2",
                                       "--fuse",
                                       "on",
                                       "--dtype",
                                       "f32",
                                       "--image",
                                       "32",
                                       "--threads",
                                       "1",
                                       "--steps",
                                       "4",
                                       "--warmup",
                                       "1",
                                       "--device",
                                       "cpu",
                                       "--oversubscribe",
                                       "--ledger",
                                       "none",
                                       "--out",
                                       place_ / "fastest.toml",
                                       "--json",
                                       place_ / "sweep.json"};
  place_.must_run(words);
  const Value result = read_json(place_ / "sweep.json");
  const Value::Array& rows = result.at("rows").as_array();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NE(rows[0].at("ranks"), rows[1].at("ranks"));
  for (const Value& row : rows) {
    EXPECT_EQ(row.at("failed").as_string(), "");
    EXPECT_EQ(row.at("samples").at("step_s").as_array().size(), 4U);
    EXPECT_GT(row.at("planned_bytes").as_integer(), 0);
  }
  EXPECT_EQ(result.at("chosen").at("ranks"), rows[0].at("ranks"));
  EXPECT_TRUE(fs::exists(place_ / "fastest.toml"));
}

TEST_F(Launch, a_sweep_of_training_runs_in_one_process) {
  const Ended run =
      place_.run(plus(train("runs"), {"--sweep", "optimizer.lr=1e-3,1e-4", "--ranks", "2", "--oversubscribe"}));
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("--sweep: expected a single process, which trains one value after another"), std::string::npos)
      << run.err;
  EXPECT_FALSE(fs::exists(place_ / "runs"));
}

/// Long test of two ranks.
class LongTest : public Launch {
 protected:
  /// @param target never reached: auroc=1, because of the many epochs
  [[nodiscard]] std::vector<std::string> command(const std::string& target, const std::vector<std::string>& more) {
    const std::vector<std::string> words = train("unused");
    return plus({"bench",
                 "long",
                 "--recipe",
                 words[2],
                 "--data",
                 data_,
                 "--out",
                 out(),
                 "--model",
                 words.back(),
                 "--target",
                 target,
                 "--batch",
                 "8,16",
                 "--device",
                 "cpu",
                 "--set",
                 "train.threads=1",
                 "--oversubscribe",
                 "--ledger",
                 "none",
                 "--json",
                 place_ / "long.json"},
                more);
  }
  [[nodiscard]] fs::path out() const { return place_ / "long"; }
  [[nodiscard]] std::string log() const { return read_all(out() / "batch-8/log.jsonl"); }
  [[nodiscard]] Value result() const { return read_json(place_ / "long.json"); }
};

const std::vector<std::string> kTwo{"--ranks", "2", "--comm-timeout", "20"};

TEST_F(LongTest, trains_with_ranks_and_the_options_of_train) {
  const std::vector<std::string> options = plus(kTwo, {"--reduce", "tree", "--wire", "bf16", "--tag-output"});
  const Ended ended = place_.must_run(command("auroc=0.01", options));
  EXPECT_THAT(ended.err, HasSubstr("1: "));
  EXPECT_TRUE(result().at("reached").as_bool());
  EXPECT_EQ(result().at("ranks").as_integer(), 2);
  EXPECT_EQ(result().at("reduce").as_string(), "tree");
  EXPECT_EQ(result().at("wire").as_string(), "bf16");
  EXPECT_TRUE(fs::exists(out() / "batch-16/checkpoints/best.safetensors"));
  const Ended other = place_.run(command("auroc=0.01", plus(kTwo, {"--reduce", "tree"})));
  expect_stop(other, {"[bench.long] wire: expected \"bf16\", as at the start of the run, got \"f32\""});
}

TEST_F(LongTest, trains_on_listed_hosts) {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  const std::string hosts = place_.write("hosts.txt", std::string(name.data()) + ":2\n");
  place_.must_run(command("auroc=0.01", {"--hosts-from", hosts}));
  EXPECT_EQ(result().at("ranks").as_integer(), 2);
  place_.must_run(command("auroc=0.01", {"--ranks", "2", "--hosts", std::string(name.data()) + ":2"}));
  EXPECT_FALSE(result().at("trained").as_bool()) << "the same run, so nothing was left to do";
}

TEST_F(LongTest, can_be_started_by_mpirun) {
  const std::vector<std::string> starter{"/usr/bin/env",
                                         "-u",
                                         "ROENTGEN_MPI",  // the library must be that of mpirun
                                         "OMPI_ALLOW_RUN_AS_ROOT=1",
                                         "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                         "OMPI_MCA_rmaps_base_oversubscribe=1",
                                         "mpirun",
                                         "-np",
                                         "2"};
  const Ended ended = Process(command("auroc=0.01", {"--wire", "f16"}), place_.root(), starter).wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(result().at("ranks").as_integer(), 2);
  EXPECT_EQ(result().at("wire").as_string(), "f16");
}

TEST_F(LongTest, with_ranks_saves_at_an_interrupt_and_continues) {
  const std::vector<std::string> words = command("auroc=1", plus(kTwo, {"--set", "train.epochs=4000"}));
  std::string before;
  for (const int signal : {SIGINT, SIGTERM}) {
    Process process(words, place_.root());
    ASSERT_TRUE(process.wait_for_lines(out() / "batch-8/log.jsonl", std::ranges::count(before, '\n') + 3));
    process.signal(signal);
    const Ended stopped = process.wait();
    EXPECT_EQ(stopped.code, 3) << stopped.err;
    EXPECT_THAT(stopped.out, HasSubstr("stopped; the same command continues"));
    EXPECT_TRUE(result().at("stopped").as_bool());
    EXPECT_TRUE(all_gone(out()));
    EXPECT_THAT(log(), testing::StartsWith(before)) << "the state at the interrupt was saved";
    EXPECT_GT(log().size(), before.size());
    before = log();
  }
  EXPECT_FALSE(fs::exists(out() / "batch-16")) << "no other run begins after the signal";
}

TEST_F(LongTest, a_second_signal_ends_the_ranks) {
  Process process(command("auroc=1", plus(kTwo, {"--set", "train.epochs=4000"})), place_.root());
  ASSERT_TRUE(wait_for_ranks(process, out()));
  process.signal(SIGINT);
  process.signal(SIGTERM);
  const Ended ended = process.wait();
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("expected a normal end, got signal"));
  EXPECT_TRUE(all_gone(out()));
}

TEST_F(LongTest, refuses_once_what_ranks_cannot_do) {
  const Ended ended = place_.run(command("auroc=0.01", plus(kTwo, {"--update", "async"})));
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("[bench.long] --update: expected sync or ps"));
  const Ended two_sizes = place_.run(command("auroc=0.01", plus(kTwo, {"--update", "ps", "--servers", "1"})));
  EXPECT_EQ(two_sizes.code, 2);
  EXPECT_THAT(two_sizes.err, HasSubstr("[bench.long] --batch: expected one size beside --servers, got 2 sizes"));
  EXPECT_FALSE(fs::exists(out()));
}

}  // namespace
}  // namespace roentgen::e2e
