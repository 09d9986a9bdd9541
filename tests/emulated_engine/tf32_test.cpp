// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests TF32 on the emulated CUDA engine: factors of products are rounded if this was requested, and only then.
#include <gtest/gtest.h>

#include "graph/builder.h"
#include "tests/emulated_engine/steps_testing.h"

namespace roentgen::emulated {
namespace {

using engine::ComputeType;
using engine::Form;

// Graph that multiplies a pixel by 1, in a convolution and in a linear layer.
graph::Graph products() {
  graph::Builder b("products");
  const auto image = b.input("image", {1, 1, 1, 1});
  const auto conv = b.add("conv", graph::Conv2d{.out_channels = 1, .kernel = {1, 1}, .bias = false}, {image});
  const auto flat = b.add("flat", graph::Flatten{}, {image});
  b.output("conv", conv);
  b.output("linear", b.add("linear", graph::Linear{.out_features = 1, .bias = false}, {flat}));
  return std::move(b).build();
}

class Tf32Products : public testing::TestWithParam<Form> {
 protected:
  // Results of the convolution and the linear layer for a pixel value with 12 binary digits after the point.
  static std::pair<float, float> results(ComputeType type) {
    EmulatedEngine engine;
    const auto executable = engine.compile(products(), {.form = GetParam(), .dtype = type});
    executable->load(0, std::vector{1.0F});
    executable->load(1, std::vector{1.0F});
    const float pixel = 1.0F + 0x1p-12F;
    std::memcpy(executable->slot(0, 0).data(), &pixel, sizeof pixel);
    executable->bind_slot(0);
    executable->forward();
    return {executable->read("conv")[0], executable->read("linear")[0]};
  }
};

TEST_P(Tf32Products, round_factors_and_those_of_f32_do_not) {
  EXPECT_EQ(results(ComputeType::tf32()), std::pair(1.0F, 1.0F));
  EXPECT_EQ(results(DType::F32), std::pair(1.0F + 0x1p-12F, 1.0F + 0x1p-12F));
}
INSTANTIATE_TEST_SUITE_P(Forms, Tf32Products, testing::Values(Form::Training, Form::Inference));

TEST(Tf32, is_in_the_plan_and_a_stored_plan_keeps_it) {
  const auto tested = network("resnet18", 2, models::Stem::ImageNet, 8);
  EmulatedEngine engine;
  const engine::Plan plan = engine.plan(tested.graph, {.dtype = ComputeType::tf32()});
  EXPECT_EQ(plan.dtype(), "tf32");
  EXPECT_NE(plan.hash(), engine.plan(tested.graph, {.dtype = DType::F32}).hash());
  const engine::Plan resumed = engine.plan(tested.graph, {.dtype = DType::Bf16, .choices = plan.choices});
  EXPECT_EQ(resumed.dtype(), "tf32");
  EXPECT_EQ(resumed.hash(), plan.hash());
}

// In a network of 20 layers, the relative error of logits is about 2^-11 sqrt(20), or 0.2%. Losses have similar errors.
TEST(Tf32, trains_like_f32) {
  const auto tested = network("resnet18", 12, models::Stem::ImageNet, 8);
  const Trained wanted = train(tested, {.dtype = DType::F32}, EmulatedEngine(), engine::Sgd{}, 5);
  const Trained got = train(tested, {.dtype = ComputeType::tf32()}, EmulatedEngine(), engine::Sgd{}, 5);
  EXPECT_NE(got.losses, wanted.losses);
  for (std::size_t i = 0; i < wanted.losses.size(); ++i) {
    EXPECT_NEAR(got.losses[i], wanted.losses[i], 0.01F * wanted.losses[i]) << "step " << i << ", seed " << kSeed;
  }
}

}  // namespace
}  // namespace roentgen::emulated
