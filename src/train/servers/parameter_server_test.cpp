// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests a parameter server. The test itself acts as the workers, so that gradients arrive in a known order.
#include "train/servers/parameter_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <tuple>

#include "core/error.h"
#include "dist/local_group_testing.h"
#include "graph/loss.h"
#include "train/flat_model_testing.h"
#include "train/ranks_testing.h"
#include "train/stepper.h"

namespace roentgen::train {
namespace {

using testing::Each;
using testing::FloatEq;
using testing::HasSubstr;

/// Fixture with a server in a separate thread, and the communicators of its workers.
class Served : public testing::Test {
 protected:
  static constexpr double kRate = 0.5;

  void start(const ServerOptions& servers, int workers, double clip_norm = 0.0,
             std::chrono::milliseconds limit = kLimit) {
    group_ = std::make_unique<dist::LocalGroup>(workers + 1);
    for (int rank = 0; rank < workers; ++rank) members_.push_back(group_->member(rank));
    executable_ = engine_.compile(graph::with_loss(flat_model(1, 4, 2), {}), {.bucket_bytes = 1U << 20U});
    elements_ = static_cast<std::size_t>(executable_->parameters().elements());
    slices_ = executable_->slices();
    server_ = std::jthread([this, servers, workers, clip_norm, limit] {
      auto member = group_->member(workers);
      engine::OptimizerRules rules;
      std::get<engine::Sgd>(rules).momentum = momentum_;
      Optimizer optimizer("sgd", rules, *executable_);
      ParameterServer server(*executable_, optimizer,
                             ranges_by_bucket(update_ranges(*executable_, {}), executable_->buckets()),
                             {.servers = servers, .workers = workers, .clip_norm = clip_norm, .limit = limit});
      try {
        // divide() waits for all ranks, so it is called here for the workers, too
        std::vector<std::jthread> others;
        for (auto& each : members_) others.emplace_back([&each] { each->divide(1, kLimit); });
        member->divide(1, kLimit);
        others.clear();
        is_divided_ = true;
        is_divided_.notify_all();
        server.serve(*member);
      } catch (const std::exception& error) {
        error_ = error.what();
      }
    });
    is_divided_.wait(false);
  }

  void ask(int worker, const Request& request) {
    member(worker).send(std::as_bytes(std::span(&request, 1)), {server_rank(), kRequestTag}, {"request"}).wait(kLimit);
  }
  /// Sends a push of `worker` whose gradients are all `value`.
  void push(int worker, float value, double busy_s = 0.0) {
    constexpr double kUntil = 1000.0;
    ask(worker, {.ask = static_cast<double>(Ask::Push), .lr = kRate, .images = 4.0, .until = kUntil, .busy_s = busy_s});
    const std::vector<float> gradients = all(value);
    member(worker).send(std::as_bytes(std::span(gradients)), {server_rank(), kGradientTag}, {"push"}).wait(kLimit);
  }
  /// Values of a gradient message: `value` for all parameters, and 0 in the padding, as after backward.
  [[nodiscard]] std::vector<float> all(float value) const {
    std::vector<float> values(elements_, 0.0F);
    for (const engine::ParameterSlice& slice : slices_) std::fill_n(values.begin() + slice.begin, slice.count, value);
    return values;
  }
  /// Returns the values of a message without padding.
  [[nodiscard]] std::vector<float> used(const std::vector<float>& values) const {
    std::vector<float> some;
    for (const engine::ParameterSlice& slice : slices_) {
      some.insert(some.end(), values.begin() + slice.begin, values.begin() + slice.begin + slice.count);
    }
    return some;
  }
  /// Receives the weights and the Reply for a worker; returns the weights.
  std::vector<float> answer(int worker) {
    std::vector<float> weights(elements_);
    member(worker)
        .receive(std::as_writable_bytes(std::span(weights)), {server_rank(), kWeightsTag}, {"weights"})
        .wait(kLimit);
    member(worker).receive(bytes_of(reply_), {server_rank(), kReplyTag}, {"reply"}).wait(kLimit);
    return used(weights);
  }
  std::vector<float> exchange(int worker, float value, double busy_s = 0.0) {
    push(worker, value, busy_s);
    return answer(worker);
  }
  void end_all() {
    for (int worker = 0; worker < std::ssize(members_); ++worker) ask(worker, {.ask = static_cast<double>(Ask::End)});
    server_.join();
  }
  [[nodiscard]] dist::Communicator& member(int worker) { return *members_[static_cast<std::size_t>(worker)]; }
  [[nodiscard]] int server_rank() const { return static_cast<int>(members_.size()); }

  double momentum_ = 0.0;
  ReferenceEngine engine_;
  std::unique_ptr<engine::Executable> executable_;
  std::size_t elements_ = 0;
  std::vector<engine::ParameterSlice> slices_;
  std::unique_ptr<dist::LocalGroup> group_;
  std::vector<std::unique_ptr<dist::Communicator>> members_;
  std::atomic<bool> is_divided_ = false;
  Reply reply_;
  std::string error_;
  std::jthread server_;
};

TEST(ServerPhases, name_the_server_in_errors) {
  EXPECT_EQ((dist::Phase{.name = kPushPhase, .index = 1}).text(), "gradients for server 1");
  EXPECT_EQ((dist::Phase{.name = kPullPhase, .index = 0}).text(), "weights of server 0");
  EXPECT_EQ((dist::Phase{.name = kStatePhase, .index = 0}).text(), "optimizer state of server 0");
}

constexpr ServerOptions kSync{.way = UpdateWay::Servers, .servers = 1};

TEST_F(Served, updates_once_by_the_mean_of_all_workers) {
  start(kSync, 3);
  push(2, 3.0F);
  push(0, 1.0F);
  push(1, 5.0F);
  for (const int worker : {1, 0, 2}) EXPECT_THAT(answer(worker), Each(FloatEq(-1.5F))) << "mean 3, rate 0.5";
  for (int worker = 0; worker < 3; ++worker) push(worker, 2.0F);
  for (int worker = 0; worker < 3; ++worker) EXPECT_THAT(answer(worker), Each(FloatEq(-2.5F)));
  EXPECT_EQ(reply_.images, 24.0);
  end_all();
  EXPECT_EQ(error_, "");
}

TEST_F(Served, limits_the_norm_of_the_mean) {
  start(kSync, 2, 1.0);
  push(0, 1.0F);
  push(1, 3.0F);
  const double norm = 2.0 * std::sqrt(static_cast<double>(used(all(1.0F)).size()));
  for (const int worker : {0, 1}) {
    // tolerance: factor and product are rounded to float32 once each
    EXPECT_THAT(answer(worker), Each(testing::FloatNear(static_cast<float>(-kRate * 2.0 / norm), 1e-6F)));
    EXPECT_NEAR(reply_.norm, norm, 1e-9 * norm);
  }
  end_all();
}

TEST_F(Served, changes_nothing_where_a_loss_is_not_finite) {
  start(kSync, 2);
  push(0, 1.0F);
  ask(1, {.ask = static_cast<double>(Ask::Push), .lr = kRate, .is_finite = 0.0});
  const std::vector<float> gradients = all(1.0F);
  member(1).send(std::as_bytes(std::span(gradients)), {server_rank(), kGradientTag}, {"push"}).wait(kLimit);
  EXPECT_THAT(answer(0), Each(0.0F));
  EXPECT_THAT(answer(1), Each(0.0F));
  end_all();
}

TEST_F(Served, applies_each_gradient_as_it_comes_and_counts_versions) {
  start({.way = UpdateWay::Async, .servers = 1, .staleness = 16}, 2);
  EXPECT_THAT(exchange(0, 1.0F), Each(FloatEq(-0.5F)));
  EXPECT_EQ(reply_.staleness, 0.0);
  EXPECT_THAT(exchange(0, 1.0F), Each(FloatEq(-1.0F)));
  EXPECT_EQ(reply_.staleness, 0.0) << "it has read its own update";
  constexpr float kLateStep = 2.0F / 3.0F;  // rate 0.5, gradient 2, at two thirds of the rate
  EXPECT_THAT(exchange(1, 2.0F), Each(FloatEq(-1.0F - kLateStep)));
  EXPECT_EQ(reply_.staleness, 2.0) << "it read before two updates of worker 0";
  EXPECT_THAT(exchange(0, 0.0F), Each(FloatEq(-1.0F - kLateStep)));
  EXPECT_EQ(reply_.staleness, 1.0);
  EXPECT_EQ(reply_.gradients, 4.0);
  EXPECT_EQ(reply_.applied, 4.0);
  EXPECT_EQ(reply_.dropped, 0.0);
  EXPECT_EQ(reply_.staleness_sum, 3.0);
  EXPECT_EQ(reply_.staleness_max, 2.0);
  EXPECT_EQ(reply_.images, 16.0);
  end_all();
}

TEST_F(Served, names_the_worker_that_works_longest_once_it_knows_all) {
  start({.way = UpdateWay::Async, .servers = 1, .staleness = 16}, 3);
  const auto told = [&](int worker, double busy_s) {
    static_cast<void>(exchange(worker, 1.0F, busy_s));
    return std::pair(reply_.slowest, reply_.imbalance);
  };
  const std::pair unknown(-1.0, 0.0);
  EXPECT_EQ(told(0, 1.0), unknown);
  EXPECT_EQ(told(1, 4.0), unknown);
  EXPECT_EQ(told(2, 0.0), unknown) << "its first update";
  EXPECT_EQ(told(2, 1.0), std::pair(1.0, 1.0)) << "4 s, and a mean of 2 s";
  EXPECT_EQ(told(0, 1.0), std::pair(1.0, 1.0)) << "its last update counts";
  EXPECT_EQ(told(1, 1.0), std::pair(0.0, 0.0)) << "all are equal";
  end_all();
}

TEST_F(Served, drops_what_is_older_than_the_bound_and_counts_it) {
  start({.way = UpdateWay::Async, .servers = 1, .staleness = 1}, 2);
  static_cast<void>(exchange(0, 1.0F));
  static_cast<void>(exchange(0, 1.0F));
  EXPECT_THAT(exchange(1, 100.0F), Each(FloatEq(-1.0F))) << "two versions old";
  EXPECT_EQ(reply_.dropped, 1.0);
  EXPECT_EQ(reply_.applied, 2.0);
  EXPECT_EQ(reply_.gradients, 3.0) << "counts for the epoch";
  EXPECT_EQ(reply_.staleness_max, 0.0) << "of those applied";
  EXPECT_THAT(exchange(1, 2.0F), Each(FloatEq(-2.0F))) << "it has read the newest weights";
  end_all();
}

TEST_F(Served, takes_the_newest_weights_only_with_a_bound_of_none) {
  start({.way = UpdateWay::Async, .servers = 1, .staleness = 0}, 2);
  EXPECT_THAT(exchange(0, 1.0F), Each(FloatEq(-0.5F)));
  EXPECT_THAT(exchange(1, 1.0F), Each(FloatEq(-0.5F)));
  EXPECT_EQ(reply_.dropped, 1.0);
  end_all();
}

TEST_F(Served, tells_all_workers_when_one_is_to_stop) {
  start({.way = UpdateWay::Async, .servers = 1}, 2);
  ask(0, {.ask = static_cast<double>(Ask::Push), .lr = kRate, .is_stop_asked = 1.0});
  const std::vector<float> gradients = all(1.0F);
  member(0).send(std::as_bytes(std::span(gradients)), {server_rank(), kGradientTag}, {"push"}).wait(kLimit);
  static_cast<void>(answer(0));
  EXPECT_EQ(reply_.is_stop_asked, 1.0);
  static_cast<void>(exchange(1, 1.0F));
  EXPECT_EQ(reply_.is_stop_asked, 1.0);
  end_all();
}

TEST_F(Served, gives_the_state_of_the_optimizer_and_the_newest_weights) {
  momentum_ = 0.9;
  start({.way = UpdateWay::Async, .servers = 1}, 2);
  static_cast<void>(exchange(0, 1.0F));
  ask(1, {.ask = static_cast<double>(Ask::Read)});
  EXPECT_THAT(answer(1), Each(FloatEq(-0.5F)));
  ask(0, {.ask = static_cast<double>(Ask::State)});
  std::vector<float> state(elements_);
  member(0).receive(std::as_writable_bytes(std::span(state)), {server_rank(), kWeightsTag}, {"state"}).wait(kLimit);
  EXPECT_THAT(used(state), Each(FloatEq(1.0F))) << "first momentum is the gradient";
  end_all();
}

TEST_F(Served, names_the_worker_that_the_others_wait_for) {
  start(kSync, 3, 0.0, std::chrono::milliseconds(50));
  push(0, 1.0F);
  push(2, 1.0F);
  server_.join();
  EXPECT_THAT(error_, HasSubstr("gradients of worker 1"));
  EXPECT_THAT(error_, HasSubstr("no sign of rank 1 (here)"));
}

TEST_F(Served, names_a_worker_that_goes_away_in_the_middle) {
  start({.way = UpdateWay::Async, .servers = 1}, 2, 0.0, std::chrono::milliseconds(50));
  ask(1, {.ask = static_cast<double>(Ask::Push), .lr = kRate});
  server_.join();
  EXPECT_THAT(error_, HasSubstr("no sign of rank 1 (here)"));
}

}  // namespace
}  // namespace roentgen::train
