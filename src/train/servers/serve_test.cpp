// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests complete runs with parameter servers. Each rank is a thread of the test.
#include "train/servers/serve.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/file.h"
#include "io/json.h"
#include "io/sha256.h"
#include "train/observer.h"
#include "train/training_ranks_testing.h"

namespace roentgen::train {
namespace {

using testing::Each;
using testing::HasSubstr;

/// Fixture that trains with workers and servers.
class ServersOfARun : public RanksOfARun {
 protected:
  std::vector<std::exception_ptr> run_served(int workers, std::int64_t batch, const ServerOptions& servers,
                                             const std::string& name, Start start = Start::Fresh,
                                             std::int64_t stop_after = 0) {
    return run_ranks(workers + servers.servers, batch, name, start, stop_after,
                     [&](int /*rank*/, TrainJob& job) { job.servers = servers; });
  }

  int refused_ = 0;
};

constexpr ServerOptions kOne{.way = UpdateWay::Servers, .servers = 1};
constexpr ServerOptions kTwo{.way = UpdateWay::Servers, .servers = 2};
constexpr ServerOptions kAsync{.way = UpdateWay::Async, .servers = 1, .staleness = 1000};
constexpr ServerOptions kTwoAsync{.way = UpdateWay::Async, .servers = 2, .staleness = 1000};
/// Value of train.bucket_mb that makes one bucket per parameter. It is below the allowed range, so these runs cannot
/// resume.
constexpr double kSmallBuckets = 1e-6;

TEST_F(ServersOfARun, make_the_updates_of_one_process) {
  recipe_.train.bucket_mb = kSmallBuckets;
  run("one");
  expect_none(run_served(2, 4, kTwo, "two"));
  EXPECT_EQ(resume_of("two").state.step, resume_of("one").state.step);
  expect_close_end(resume_of("two"), resume_of("one"));
}

TEST_F(ServersOfARun, make_them_with_adam_clipping_and_averages) {
  recipe_.optimizer.name = "adam";
  recipe_.optimizer.lr = 0.05;
  recipe_.train.clip_norm = 0.05;
  recipe_.train.bucket_mb = kSmallBuckets;
  recipe_.train.ema = 0.9;
  run("one");
  expect_none(run_served(2, 4, kTwo, "two"));
  expect_close_end(resume_of("two"), resume_of("one"));
  const Resume one = resume_of("one");
  const Resume two = resume_of("two");
  ASSERT_EQ(two.optimizer.size(), one.optimizer.size());
  for (std::size_t i = 0; i < one.optimizer.size(); ++i) {
    for (std::size_t k = 0; k < one.optimizer[i].values.size(); ++k) {
      EXPECT_NEAR(two.optimizer[i].values[k], one.optimizer[i].values[k], 1e-5F) << "in the checkpoint of rank 0";
    }
  }
}

TEST_F(ServersOfARun, stop_and_go_on_to_the_same_bits) {
  recipe_.optimizer.name = "adam";
  expect_none(run_served(2, 4, kOne, "whole"));
  expect_none(run_served(2, 4, kOne, "parts", Start::Fresh, 6));
  EXPECT_EQ(resume_of("parts").state.step, 6);
  expect_none(run_served(2, 4, kOne, "parts", Start::Resume, 9));
  expect_none(run_served(2, 4, kOne, "parts", Start::Resume));
  expect_same_end(resume_of("parts"), resume_of("whole"));
}

TEST_F(ServersOfARun, go_on_without_servers) {
  run("whole");
  expect_none(run_served(2, 4, kOne, "parts", Start::Fresh, 6));
  expect_none(run_ranks(2, 4, "parts", Start::Resume));
  expect_close_end(resume_of("parts"), resume_of("whole"));
}

TEST_F(ServersOfARun, make_exactly_an_epochs_gradients_without_waiting) {
  recipe_.train.checkpoint_steps = 3;
  recipe_.train.bucket_mb = kSmallBuckets;
  expect_none(run_served(3, 2, kTwoAsync, "async"));
  const RunState state = resume_of("async").state;
  EXPECT_EQ(state.updates_per_epoch, 32 / 6);
  EXPECT_EQ(state.step, 4 * state.updates_per_epoch);
  EXPECT_TRUE(state.is_finished);
  // the last log line of the first worker; each other worker may have had one more gradient in flight then
  const std::string log = io::read_text(RunFolder(out_.path() / "async").log()).or_throw();
  const std::size_t last = log.rfind("\"applied\":");
  ASSERT_NE(last, std::string::npos);
  const std::int64_t applied = std::stoll(log.substr(last + std::string_view("\"applied\":").size()));
  EXPECT_LE(applied, 3 * state.step);
  EXPECT_GE(applied, 3 * state.step - 2);
  EXPECT_THAT(log, HasSubstr("\"dropped\":0,\"staleness_mean\":"));
  const std::size_t workers = log.rfind("{\"kind\":\"workers\"");
  ASSERT_NE(workers, std::string::npos);
  const Value counts = io::parse_json(log.substr(workers, log.find('\n', workers) - workers), "log").or_throw();
  std::int64_t sum = 0;
  for (const Value& each : counts.at("applied_by_worker").as_array()) sum += each.as_integer();
  EXPECT_EQ(counts.at("applied_by_worker").as_array().size(), 3U);
  EXPECT_EQ(sum, 3 * state.step) << "all gradients of all workers";
}

TEST_F(ServersOfARun, are_one_process_where_there_is_one_worker_without_waiting) {
  recipe_.train.batch = 8;
  run("one");
  expect_none(run_served(1, 8, kAsync, "async"));
  const Resume one = resume_of("one");
  Resume async = resume_of("async");
  EXPECT_EQ(async.state.updates, text_of(kAsync));
  async.state.updates = one.state.updates;
  async.state.averages = one.state.averages;
  expect_same_end(async, one);
}

TEST_F(ServersOfARun, resume_an_asynchronous_run) {
  expect_none(run_served(2, 4, kAsync, "parts", Start::Fresh, 6));
  EXPECT_EQ(resume_of("parts").state.step, 6);
  expect_none(run_served(2, 4, kAsync, "parts", Start::Resume));
  EXPECT_EQ(resume_of("parts").state.step, 16);
}

TEST_F(ServersOfARun, stop_all_workers_when_one_is_asked) {
  for (const ServerOptions& servers : {kOne, kAsync}) {
    const std::string name(name_of(servers.way));
    expect_none(run_ranks(2 + servers.servers, 4, name, Start::Fresh, 0, [&](int rank, TrainJob& job) {
      job.servers = servers;
      if (rank == 1) job.is_stop_asked = [count = 0]() mutable { return ++count > 5; };
    }));
    EXPECT_FALSE(outcomes_[0].is_finished) << name;
    EXPECT_GT(resume_of(name).state.step, 0) << name;
    EXPECT_LT(resume_of(name).state.step, 16) << name;
  }
}

/// Observer that counts the updates in which each rank was the slowest by more than a fifth.
class SlowRanks final : public Observer {
 public:
  void on_step(const StepRecord& record) override {
    if (record.slowest_rank < 0 || record.imbalance.value_or(0.0) <= 0.2) return;
    ++times_.at(static_cast<std::size_t>(record.slowest_rank));
  }
  void on_workers(const WorkersRecord& record) override { workers_ = record.workers; }
  [[nodiscard]] const std::vector<int>& times() const { return times_; }
  [[nodiscard]] const std::vector<GradientCount>& workers() const { return workers_; }

 private:
  std::vector<int> times_ = std::vector<int>(3, 0);
  std::vector<GradientCount> workers_;
};

// One worker of three hashes 4 MB in every update, which takes many times longer than its update of a tiny network.
TEST_F(ServersOfARun, name_the_worker_that_computes_longest) {
  for (const ServerOptions& servers : {kOne, kAsync}) {
    const std::string name(name_of(servers.way));
    SlowRanks seen;
    expect_none(run_ranks(3 + servers.servers, 1, name, Start::Fresh, 0, [&](int rank, TrainJob& job) {
      job.servers = servers;
      if (rank == 0) job.observers.push_back(&seen);
      if (rank != 1) return;
      job.is_stop_asked = [work = std::string(4'000'000, 'x')]() mutable {
        work[0] = io::sha256_hex(work)[0];
        return false;
      };
    }));
    const std::vector<int>& times = seen.times();
    EXPECT_GT(times[1], 4 * (times[0] + times[2]))
        << name << ", of " << times[0] << ", " << times[1] << ", " << times[2];
    if (!servers.is_async()) continue;
    ASSERT_EQ(seen.workers().size(), 3U);
    EXPECT_LT(seen.workers()[1].applied, seen.workers()[0].applied);
    EXPECT_LT(seen.workers()[1].applied, seen.workers()[2].applied);
  }
}

TEST_F(ServersOfARun, are_refused_by_one_line_on_all_ranks) {
  const auto refusals = [&](const ServerOptions& servers, int ranks) {
    std::vector<std::string> texts;
    for (const auto& error : run_ranks(ranks, 4, fmt::format("refused{}", refused_++), Start::Fresh, 0,
                                       [&](int /*rank*/, TrainJob& job) { job.servers = servers; })) {
      texts.push_back(text_of(error));
    }
    return texts;
  };
  EXPECT_THAT(refusals(kTwo, 2), Each(HasSubstr("--servers: expected fewer than the 2 ranks, got 2")));
  recipe_.train.batch_norm = "sync";
  EXPECT_THAT(refusals(kAsync, 3), Each(HasSubstr("try train.batch_norm=local, or --update ps")));
}

}  // namespace
}  // namespace roentgen::train
