// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the first layers in f16 within a bf16 network: when they are used, their gradients, and small and large
// numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "engine/conformance/conformance.h"
#include "engine/cuda/conv/stem.h"
#include "engine/cuda/tolerances_testing.h"
#include "graph/loss.h"
#include "models/model.h"
#include "tests/emulated_engine/emulated_engine.h"

namespace roentgen::emulated {
namespace {
using engine::CompileOptions;
using engine::Executable;
using engine::Plan;
using engine::conformance::Case;

constexpr std::uint64_t kSeed = 20261127;

Case network(const std::string& name, std::int64_t channels, models::Stem stem = models::Stem::ImageNet) {
  Case made{
      .name = "network." + name,
      .graph = graph::with_loss(
          models::build_model(
              {.name = name, .labels = 3, .channels = channels, .image_px = 32, .batch = 4, .width = 8, .stem = stem}),
          {})};
  made.values["labels"] = engine::conformance::random_labels(4 * 3);
  made.values["mask"] = std::vector<float>(4 * 3, 1.0F);
  return made;
}

Plan plan_of(const Case& tested, DType dtype) { return EmulatedEngine().plan(tested.graph, {.dtype = dtype}); }

// Layouts of the tensors that a plan entry reads and writes; empty if there is no such entry.
std::string layouts_of(const Plan& plan, std::string_view entry) {
  const auto found = std::ranges::find(plan.entries, entry, &engine::PlanEntry::name);
  if (found == plan.entries.end()) return {};
  std::string text;
  for (const auto* tensors : {&found->reads, &found->writes}) {
    for (const engine::TensorId tensor : *tensors) {
      text += plan.tensors[static_cast<std::size_t>(tensor)].layout + " ";
    }
  }
  return text;
}

TEST(EmulatedStem, strided_convolution_of_a_bf16_networks_image_is_computed_in_f16) {
  for (const std::int64_t channels : {1, 3}) {
    const Plan plan = plan_of(network("resnet18", channels), DType::Bf16);
    const std::string image = "nhwc" + std::to_string(engine::cuda::kStemChannels) + ":f16 ";
    EXPECT_EQ(layouts_of(plan, "conv1/forward"), image + "plain nhwc8:f16 scratch ");
    EXPECT_EQ(layouts_of(plan, "conv1/convert"), "nhwc8:f16 nhwc8:bf16 ");
    EXPECT_EQ(layouts_of(plan, "conv1/scale_gradient"), "nhwc8:bf16 nhwc8:f16 ");
    EXPECT_TRUE(layouts_of(plan, "conv1/backward_weights").starts_with(image));
    EXPECT_EQ(layouts_of(plan, "layer1.0.conv1/forward"), "nhwc8:bf16 ohwi8x9x8 nhwc8:bf16 scratch ");
  }
}

TEST(EmulatedStem, other_convolutions_and_networks_of_f32_stay_as_they_are) {
  const Plan wide = plan_of(network("resnet18", 3), DType::F32);
  EXPECT_EQ(layouts_of(wide, "conv1/forward"), "nhwc8 ohwi8x49x8 nhwc8 scratch ");
  EXPECT_EQ(layouts_of(wide, "conv1/convert"), "");
  // The first convolution of VGG has no stride.
  const Plan vgg = plan_of(network("vgg16", 3), DType::Bf16);
  const auto has_f16 = [](const Plan& plan) {
    return std::ranges::any_of(plan.tensors, [](const auto& tensor) { return tensor.dtype == DType::F16; });
  };
  EXPECT_FALSE(has_f16(vgg));
  EXPECT_TRUE(has_f16(plan_of(network("resnet18", 3), DType::Bf16)));
  const Plan inference = EmulatedEngine().plan(network("resnet18", 3).graph, {.form = engine::Form::Inference});
  EXPECT_FALSE(has_f16(inference));
}

TEST(EmulatedStem, network_of_bf16_agrees_with_the_reference) {
  for (const char* name : {"resnet18", "densenet121"}) {
    const Case tested = network(name, 3);
    EmulatedEngine engine;
    const auto report = engine::conformance::run_case(
        engine, tested, engine::cuda::run_options(tested, CompileOptions{.dtype = DType::Bf16}));
    EXPECT_TRUE(report.passed()) << name << "\n" << report.failures();
  }
}

// A conversion that overwrites its input needs no memory.
TEST(EmulatedStem, conversions_are_made_in_place) {
  const Plan plan = plan_of(network("resnet18", 3), DType::Bf16);
  for (const std::string_view name : {"conv1/convert", "conv1/scale_gradient"}) {
    const auto entry = std::ranges::find(plan.entries, name, &engine::PlanEntry::name);
    ASSERT_NE(entry, plan.entries.end()) << name;
    const auto offset = [&](engine::TensorId id) { return plan.tensors[static_cast<std::size_t>(id)].offset; };
    EXPECT_EQ(offset(entry->reads[0]), offset(entry->writes[0])) << name;
  }
}

// Runs a step of the network after multiplying the named parameter by a factor.
std::unique_ptr<Executable> stepped(const Case& tested, DType dtype, const std::string& parameter, float factor) {
  EmulatedEngine engine;
  auto executable = engine.compile(tested.graph, {.dtype = dtype});
  initialise(*executable, kSeed);
  const auto values = engine::conformance::draw_values(tested, kSeed);
  for (std::size_t i = 0; i < executable->inputs().size(); ++i) {
    const std::vector<float>& from = values.at(executable->inputs()[i].name);
    std::memcpy(executable->slot(static_cast<std::int64_t>(i), 0).data(), from.data(), from.size() * sizeof(float));
  }
  const auto& parameters = executable->graph().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name != parameter) continue;
    std::vector<float> changed = executable->store(static_cast<std::int32_t>(i));
    for (float& value : changed) value *= factor;
    executable->load(static_cast<std::int32_t>(i), changed);
  }
  executable->bind_slot(0);
  executable->set_step(0);
  executable->begin_update();
  executable->forward();
  executable->backward({});
  return executable;
}

std::vector<float> stem_gradient(const Executable& executable) {
  const auto& parameters = executable.graph().parameters();
  const auto found = std::ranges::find(parameters, "conv1.weight", &graph::Parameter::name);
  return executable.store_gradient(static_cast<std::int32_t>(found - parameters.begin()));
}

double norm_of(const std::vector<float>& values) {
  double sum = 0.0;
  for (const float value : values) sum += double{value} * value;
  return std::sqrt(sum);
}

// Small weights in the last layer make all gradients before it proportionally small: logits are near 0, where the loss
// is linear to 2^-16. Rounding to bf16 is then equal at both scales, and f16 would differ only by underflow.
TEST(EmulatedStem, small_gradients_do_not_underflow) {
  const Case tested = network("resnet18", 3);
  constexpr float kLarge = 0x1p-14F, kRatio = 0x1p-8F;
  const std::vector<float> large = stem_gradient(*stepped(tested, DType::Bf16, "fc.weight", kLarge));
  const std::vector<float> small = stem_gradient(*stepped(tested, DType::Bf16, "fc.weight", kLarge * kRatio));
  std::vector<float> error = small;
  for (std::size_t i = 0; i < error.size(); ++i) error[i] = error[i] / kRatio - large[i];
  EXPECT_LE(norm_of(error), 0.01 * norm_of(large)) << "seed " << kSeed;
}

// Weights beyond the range of f16 give infinite results. The loss is then not finite, and the update changes nothing.
TEST(EmulatedStem, overflow_is_noticed_by_the_check_of_the_loss) {
  const Case tested = network("resnet18", 3);
  const auto executable = stepped(tested, DType::Bf16, "conv1.weight", 1e6F);
  EXPECT_FALSE(std::isfinite(executable->read("loss")[0]));
  const std::vector<float> before = executable->parameters().values();
  std::vector<engine::UpdateRange> ranges;
  for (const auto& slice : executable->slices()) ranges.push_back({.begin = slice.begin, .count = slice.count});
  const auto momenta = executable->make_arena(engine::ArenaKind::Trained);
  std::vector<engine::Arena*> state{momenta.get()};
  executable
      ->update(engine::Sgd{}, {.target = executable->parameters(),
                               .source = executable->gradients(),
                               .state = state,
                               .ranges = ranges,
                               .lr = 0.1,
                               .step = 1})
      .wait();
  EXPECT_EQ(executable->parameters().values(), before);
}

}  // namespace
}  // namespace roentgen::emulated
