// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests plans for described cards, which this machine need not have. The tests need cuDNN but no GPU.
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/error.h"
#include "core/folder_testing.h"
#include "engine/cuda/cards.h"
#include "engine/cuda/conv/convolutions.h"
#include "engine/cuda/cudnn_library.h"
#include "engine/engine.h"
#include "engine/engine_list.h"
#include "graph/loss.h"
#include "graph/text.h"
#include "runtime/stream.h"

namespace roentgen::engine {
namespace {

/// Reason why cuDNN cannot be used on this machine; empty if it can.
std::string why_no_cudnn() {
  try {
    static_cast<void>(cuda::cudnn());
    return {};
  } catch (const DeviceError& error) {
    return error.what();
  }
}

/// Fixture that hides the user's cache of fastest plans.
class CudaPlanner : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_no_cudnn(); !reason.empty()) {
      GTEST_SKIP() << "NO CUDNN, NOTHING TESTED: " << reason;
    }
    ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  }

  static graph::Graph network() {
    return graph::with_loss(graph::parse_graph(R"(graph "net"
input image (32, 3, 64, 64)
c1 = conv2d(image, out=32, kernel=3x3, pad=1x1, bias=no)
b1 = batch_norm(c1)
r1 = relu(b1)
c2 = conv2d(r1, out=64, kernel=3x3, stride=2x2, pad=1x1, bias=no)
b2 = batch_norm(c2)
r2 = relu(b2)
p = global_avg_pool(r2)
f = flatten(p)
fc = linear(f, out=14)
output logits = fc
)",
                                               "net")
                                .or_throw(),
                            {});
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(CudaPlanner, plans_every_described_card_and_refuses_to_compute) {
  for (const char* const card : {"h100", "h200"}) {
    const auto planner = make_cuda_planner(card);
    EXPECT_NE(planner->description().find(cuda::find_card(card).name), std::string::npos);
    const Plan plan = planner->plan(network(), {.dtype = DType::Bf16});
    EXPECT_EQ(plan.dtype(), "bf16");
    EXPECT_TRUE(plan.choices.at("c2/forward").starts_with('e')) << plan.choices.at("c2/forward");
    EXPECT_GT(plan.memory.activations, plan.memory.workspace);
    EXPECT_THROW(static_cast<void>(planner->compile(network(), {})), DeviceError);
  }
}

TEST_F(CudaPlanner, gives_the_same_plan_twice_and_takes_it_by_name) {
  const auto planner = make_cuda_planner("h200");
  const Plan plan = planner->plan(network(), {.dtype = DType::Bf16});
  EXPECT_EQ(planner->plan(network(), {.dtype = DType::Bf16}).hash(), plan.hash());
  EXPECT_EQ(planner->plan(network(), {.dtype = DType::Bf16, .choices = plan.choices}).hash(), plan.hash());
}

TEST_F(CudaPlanner, file_of_a_card_that_cudnn_does_not_take_is_refused) {
  EXPECT_THROW(static_cast<void>(cuda::make_cudnn_convolutions("{}")), DeviceError);
}

TEST(CudaPlannerDevice, without_a_device_is_an_h200s_and_a_card_needs_the_device_cuda) {
  if (!runtime::find_cuda_devices().devices.empty()) GTEST_SKIP() << "SKIPPED, it is about machines without a device";
  EXPECT_NE(make_planner("cuda", "")->description().find("NVIDIA H200"), std::string::npos);
  EXPECT_NE(make_planner("cuda", "h100")->description().find("NVIDIA H100"), std::string::npos);
  EXPECT_EQ(make_planner("cpu", "")->name(), "cpu");
  EXPECT_THROW(static_cast<void>(make_planner("cpu", "h100")), ConfigError);
  EXPECT_THROW(static_cast<void>(make_planner("cuda:0", "")), DeviceError) << "the number of a device of this machine";
}

}  // namespace
}  // namespace roentgen::engine
