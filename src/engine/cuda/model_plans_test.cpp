// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plans every network in every type for a described H200, so that cuDNN would show which convolutions it refuses. The
// tests need cuDNN but no GPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "core/error.h"
#include "core/folder_testing.h"
#include "engine/cuda/cudnn_library.h"
#include "engine/engine.h"
#include "engine/engine_list.h"
#include "graph/loss.h"
#include "models/model.h"

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

class ModelPlans : public testing::TestWithParam<std::string_view> {};

TEST_P(ModelPlans, cudnn_takes_all_convolutions_in_every_type) {
  if (const std::string reason = why_no_cudnn(); !reason.empty()) {
    GTEST_SKIP() << "NO CUDNN, NOTHING TESTED: " << reason;
  }
  const TemporaryFolder cache;  // hides the user's cache of fastest plans
  ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  const auto planner = make_cuda_planner("h200");
  for (const Form form : {Form::Training, Form::Inference}) {
    const bool is_training = form == Form::Training;
    const graph::Graph model = models::build_model({.name = std::string(GetParam()),
                                                    .channels = 3,
                                                    .image_px = models::own_image_px(GetParam()),
                                                    .batch = 16,
                                                    .auxiliary = is_training});
    const graph::Graph planned = is_training ? graph::with_loss(model, {}) : model;
    const auto convolutions = std::ranges::count_if(
        model.nodes(), [](const graph::Node& node) { return std::holds_alternative<graph::Conv2d>(node.op); });
    for (const ComputeType type :
         {ComputeType(DType::F32), ComputeType::tf32(), ComputeType(DType::Bf16), ComputeType(DType::F16)}) {
      SCOPED_TRACE(fmt::format("{} in {}", is_training ? "training" : "inference", name_of(type)));
      Plan plan;
      ASSERT_NO_THROW(plan = planner->plan(planned, {.form = form, .dtype = type}));
      EXPECT_EQ(plan.dtype(), name_of(type));
      const auto chosen =
          std::ranges::count_if(plan.choices, [](const auto& choice) { return choice.first.ends_with("/forward"); });
      EXPECT_GE(chosen, convolutions);
    }
  }
}

std::string name_of_model(const testing::TestParamInfo<std::string_view>& tested) { return std::string(tested.param); }

// A network takes 2 to 10 s.
INSTANTIATE_TEST_SUITE_P(Smallest, ModelPlans, testing::Values("resnet18"), name_of_model);
INSTANTIATE_TEST_SUITE_P(Product, ModelPlans, testing::ValuesIn(models::model_names()), name_of_model);

}  // namespace
}  // namespace roentgen::engine
