// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests recomputation in backward on the emulated CUDA engine: the same bits as with stored values, in less memory.
#include <gtest/gtest.h>

#include "tests/emulated_engine/steps_testing.h"

namespace roentgen::emulated {
namespace {

engine::CompileOptions with(const std::string& recompute) { return {.dtype = DType::Bf16, .recompute = recompute}; }

TEST(EmulatedCuda, what_is_computed_again_has_the_bits_of_what_was_kept) {
  for (const char* name : {"resnet18", "resnet50", "densenet121", "googlenet"}) {
    const auto tested = network(name, 2, models::Stem::ImageNet, 16);  // DenseNet's segments are whole packs
    const Trained kept = train(tested, with("none"), EmulatedEngine(), engine::Sgd{}, 3);
    const Trained again = train(tested, with("all"), EmulatedEngine(), engine::Sgd{}, 3);
    EXPECT_EQ(again.losses, kept.losses) << name << ", seed " << kSeed;
    EXPECT_EQ(again.parameters, kept.parameters) << name << ", seed " << kSeed;
  }
}

// Compares plans only, for sizes used in training.
TEST(EmulatedCuda, computing_again_takes_less_memory) {
  for (const char* name : {"resnet50", "densenet121", "googlenet", "inception_v4"}) {
    const models::ModelConfig config{.name = name, .labels = 14, .image_px = 224, .batch = 32, .auxiliary = false};
    const graph::Graph graph = graph::with_loss(models::build_model(config), {});
    EmulatedEngine engine;
    const auto bytes = [&](const char* recompute) {
      return static_cast<double>(engine.plan(graph, with(recompute)).memory.activations);
    };
    const double kept = bytes("none"), again = bytes("all");
    EXPECT_LT(again, 0.85 * kept) << name;
    EXPECT_EQ(bytes("auto"), kept) << name << ": no kernel that runs anyway writes a value again";
    RecordProperty(name, std::to_string(again / kept));
  }
}

}  // namespace
}  // namespace roentgen::emulated
