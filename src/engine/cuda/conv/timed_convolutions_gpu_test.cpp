// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the timing of cuDNN's plans on the first CUDA device.
#include "engine/cuda/conv/timed_convolutions.h"

#include <gtest/gtest.h>

#include "core/folder_testing.h"
#include "runtime/cuda/gpu_testing.h"

namespace roentgen::engine::cuda {
namespace {

const ConvProblem kProblem{
    .images = 8, .channels = 64, .size = {28, 28}, .out_channels = 64, .kernel = {3, 3}, .pad = {1, 1}};

// Timer of a device that counts its calls.
class CountingTimer final : public PlanTimer {
 public:
  explicit CountingTimer(int& calls) : calls_(calls) {}
  [[nodiscard]] double seconds(const ConvProblem& problem, ConvPlan& plan) override {
    ++calls_;
    return timer_->seconds(problem, plan);
  }
  [[nodiscard]] double now_s() override { return timer_->now_s(); }
  void release() override { timer_->release(); }

 private:
  std::unique_ptr<PlanTimer> timer_ = make_cuda_plan_timer(0);
  int& calls_;
};

using TimedConvolutionsGpu = runtime::GpuTest;

TEST_F(TimedConvolutionsGpu, every_plan_can_be_timed_in_a_graph) {
  const auto convolutions = make_cudnn_convolutions();
  const auto timer = make_cuda_plan_timer(0);
  for (const ConvPass pass : {ConvPass::Forward, ConvPass::DataGradient, ConvPass::WeightGradient}) {
    ConvProblem problem = kProblem;
    problem.pass = pass;
    for (const auto& plan : convolutions->plans(problem, kTimedPlans)) {
      SCOPED_TRACE(plan->name() + " of " + problem.text());
      double seconds = 0.0;
      EXPECT_NO_THROW(seconds = timer->seconds(problem, *plan));
      EXPECT_GT(seconds, 0.0);
    }
  }
  // After release(), the timer allocates its memory again.
  timer->release();
  EXPECT_GT(timer->seconds(kProblem, *convolutions->first(kProblem)), 0.0);
}

TEST_F(TimedConvolutionsGpu, problem_is_timed_once_a_card) {
  const TemporaryFolder folder;
  const auto chosen = [&](int& calls) {
    const auto timed = make_timed_convolutions(make_cudnn_convolutions(), std::make_unique<CountingTimer>(calls),
                                               PlanCache(folder.path() / "plans.json", "card"));
    const auto plan = timed->fastest(kProblem);
    EXPECT_TRUE(plan->is_deterministic());
    timed->finish_choice();
    return plan->name();
  };
  int first_calls = 0, later_calls = 0;
  const std::string first = chosen(first_calls);
  EXPECT_EQ(chosen(later_calls), first);
  EXPECT_GT(first_calls, 0);
  EXPECT_EQ(later_calls, 0);
}

}  // namespace
}  // namespace roentgen::engine::cuda
