// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the CPU executable in inference: which layers are folded, when folding happens, and that loaded values do not
// change.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/random.h"
#include "engine/cpu/plan/executable.h"
#include "graph/loss.h"
#include "models/model.h"

namespace roentgen::engine::cpu {
namespace {

graph::Graph model(const std::string& name, std::int64_t image_px = 64, std::int64_t batch = 2) {
  return graph::with_loss(
      models::build_model({.name = name, .labels = 3, .channels = 1, .image_px = image_px, .batch = batch}), {});
}

// Executable with random weights, and running statistics that are neither 0 nor 1.
std::unique_ptr<Executable> ready(const graph::Graph& graph, const CompileOptions& options) {
  auto executable = make_executable(graph, options);
  initialise(*executable, 7);
  for (std::size_t i = 0; i < graph.parameters().size(); ++i) {
    const graph::Parameter& parameter = graph.parameters()[i];
    if (graph::is_trained(parameter.role)) continue;
    Random random(5, RandomStage::Test, i);
    std::vector<float> values(static_cast<std::size_t>(parameter.shape.elements()));
    for (float& value : values) {
      value = static_cast<float>(parameter.role == graph::Role::RunningMean ? 0.1 * random.normal()
                                                                            : random.uniform(0.5, 2.0));
    }
    executable->load(static_cast<std::int32_t>(i), values);
  }
  Random random(11, RandomStage::Test, 0);
  std::vector<float> image(executable->inputs()[0].bytes / sizeof(float));
  for (float& value : image) value = static_cast<float>(random.normal());
  std::memcpy(executable->slot(0, 0).data(), image.data(), executable->inputs()[0].bytes);
  return executable;
}

std::vector<float> logits_of(Executable& executable) {
  executable.forward();
  const std::span<const float> logits = executable.read("logits");
  return {logits.begin(), logits.end()};
}
}  // namespace

TEST(CpuInference, each_pass_gives_the_unfused_probabilities_within_rounding) {
  for (const char* name : {"resnet18", "densenet121", "googlenet"}) {
    auto plain = ready(model(name), {.form = Form::Inference, .fuse = "off", .algorithms = Algorithms::Direct});
    const std::vector<float> expected = logits_of(*plain);
    const float largest = std::abs(std::ranges::max(expected, {}, [](float x) { return std::abs(x); }));
    for (const char* fuse : {"on", "fold_batch_norm", "fold_relu", "batch_norm_relu,fold_batch_norm"}) {
      auto fused = ready(model(name), {.form = Form::Inference, .fuse = fuse, .algorithms = Algorithms::Direct});
      const std::vector<float> got = logits_of(*fused);
      for (std::size_t i = 0; i < got.size(); ++i) {
        // Same tolerance as in training: a few units in the last place per layer, over at most 121 layers.
        ASSERT_NEAR(got[i], expected[i], 2e-5F * largest) << name << " " << fuse << " " << i;
      }
    }
  }
}

TEST(CpuInference, folded_weights_follow_what_is_loaded_and_store_gives_it_back) {
  const graph::Graph graph = model("resnet18");
  auto executable = ready(graph, {.form = Form::Inference});
  ASSERT_FALSE(executable->plan().preparations.empty());
  const std::vector<float> first = logits_of(*executable);
  initialise(*executable, 99);
  for (std::size_t i = 0; i < graph.parameters().size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    ASSERT_EQ(executable->store(id), graph::initial_values(graph.parameters()[i], 99)) << graph.parameters()[i].name;
  }
  const std::vector<float> second = logits_of(*executable);
  EXPECT_NE(first, second);
  auto fresh = ready(graph, {.form = Form::Inference});
  initialise(*fresh, 99);
  EXPECT_EQ(second, logits_of(*fresh));
  // Values that are written directly into the arena must also trigger folding.
  fresh->parameters().upload(0, std::vector<float>(static_cast<std::size_t>(fresh->parameters().elements())));
  EXPECT_EQ(logits_of(*fresh), std::vector<float>(second.size(), 0.0F));
}

TEST(CpuInference, inference_uses_the_convolutions_of_training) {
  const auto training =
      make_executable(model("resnet18"), {.form = Form::Training, .fuse = "off", .algorithms = Algorithms::Direct});
  const auto inference =
      make_executable(model("resnet18"), {.form = Form::Inference, .algorithms = Algorithms::Direct});
  std::map<std::string, std::string> of_training;
  for (const PlanEntry& entry : training->plan().entries) of_training[entry.name] = entry.implementation;
  int compared = 0;
  for (const PlanEntry& entry : inference->plan().entries) {
    if (entry.kind != "conv2d_forward") continue;
    ++compared;
    EXPECT_TRUE(entry.implementation.starts_with(of_training.at(entry.name))) << entry.name << entry.implementation;
  }
  EXPECT_EQ(compared, 20);
}

TEST(CpuInference, gives_an_image_the_same_bits_in_any_batch_place_and_team) {
  constexpr std::int64_t kImages = 40;
  constexpr std::int64_t kSide_px = 64;
  for (const char* name : {"resnet18", "resnet50", "densenet121", "googlenet"}) {
    const auto alone = ready(model(name, kSide_px, 1), {.form = Form::Inference, .threads = 1, .slots = 1});
    const std::vector<float> expected = logits_of(*alone);
    const std::span<const std::byte> image = alone->slot(0, 0);
    for (const std::int64_t batch : {std::int64_t{1}, std::int64_t{2}, kImages}) {
      for (const int threads : {1, 2}) {
        const auto executable =
            make_executable(model(name, kSide_px, batch), {.form = Form::Inference, .threads = threads, .slots = 1});
        copy_parameters(*alone, *executable);
        const std::span<std::byte> images = executable->slot(0, 0);
        const std::size_t last = images.size() - image.size();
        for (const std::size_t place : {std::size_t{0}, last}) std::ranges::copy(image, images.begin() + place);
        const std::vector<float> logits = logits_of(*executable);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), logits.begin()) &&
                    std::equal(expected.begin(), expected.end(), logits.end() - std::ssize(expected)))
            << name << ", " << batch << " images, " << threads << " threads";
      }
    }
  }
}

}  // namespace roentgen::engine::cpu
