// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/choice/conv_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "engine/cpu/choice/conv_timing.h"
#include "engine/cpu/conv/own_conv.h"
#include "engine/cpu/plan/executable.h"
#include "engine/cpu/simd/isa.h"
#include "engine/cpu/simd/tiles.h"
#include "graph/graph.h"
#include "graph/loss.h"
#include "models/model.h"

namespace roentgen::engine::cpu {
namespace {

using testing::HasSubstr;

/// Size of a layer: images, input and output channels, side of the input, side of the window, stride.
struct Layer {
  std::int64_t images, in, out, side, window, stride = 1;
};

ConvGeometry geometry(const Layer& layer) {
  const std::int64_t pad = layer.window / 2;
  const std::int64_t result = (layer.side + 2 * pad - layer.window) / layer.stride + 1;
  const std::int64_t high = (result - 1) * layer.stride + layer.window - layer.side - pad;
  return {.src = {layer.images, layer.in, layer.side, layer.side},
          .dst = {layer.images, layer.out, result, result},
          .weights = {layer.out, layer.in, layer.window, layer.window},
          .bias = {},
          .stride = {layer.stride, layer.stride},
          .dilation = {0, 0},
          .pad_low = {pad, pad},
          .pad_high = {high, high}};
}

constexpr ChoiceContext kTraining{.instruction_set = InstructionSet::Avx512, .threads = 2};

ConvAlgorithm chosen(const Layer& layer, ConvPass pass, ChoiceContext context = kTraining) {
  return conv_rule(geometry(layer), pass, context);
}

constexpr auto kForward = ConvPass::Forward;
constexpr auto kData = ConvPass::BackwardData;
constexpr auto kWeights = ConvPass::BackwardWeights;

TEST(ConvRule, takes_products_for_1x1_and_winograd_for_3x3_on_avx512) {
  if (simd::vector_block() != 16) GTEST_SKIP() << "SKIPPED: this machine has no AVX-512";
  for (const ConvPass pass : {kForward, kData, kWeights}) {
    EXPECT_EQ(chosen({16, 64, 256, 56, 1}, pass), ConvAlgorithm::Pointwise);
    EXPECT_EQ(chosen({16, 64, 64, 56, 3}, pass), ConvAlgorithm::Winograd);
    EXPECT_EQ(chosen({16, 128, 128, 56, 3, 2}, pass), ConvAlgorithm::Direct) << "3x3 with a stride";
    EXPECT_EQ(chosen({16, 1, 64, 224, 7, 2}, pass), ConvAlgorithm::Direct) << "one channel";
    EXPECT_EQ(chosen({16, 256, 512, 56, 1, 2}, pass), ConvAlgorithm::Direct) << "1x1 with a stride";
    EXPECT_EQ(chosen({1, 512, 512, 7, 3}, pass), ConvAlgorithm::Direct) << "49 pixels";
    EXPECT_EQ(chosen({1, 512, 2048, 7, 1}, pass), ConvAlgorithm::Direct) << "49 pixels";
    EXPECT_EQ(chosen({16, 128, 128, 5, 3}, pass), ConvAlgorithm::Direct) << "more than half of each tile is padding";
  }
  EXPECT_EQ(chosen({8, 512, 2048, 7, 1}, kData), ConvAlgorithm::Direct) << "392 pixels";
  EXPECT_EQ(chosen({8, 512, 2048, 7, 1}, kForward), ConvAlgorithm::Pointwise);
  EXPECT_EQ(chosen({32, 128, 128, 5, 3}, kWeights), ConvAlgorithm::Winograd);
  EXPECT_EQ(chosen({32, 128, 128, 5, 3}, kForward), ConvAlgorithm::Direct);
}

TEST(ConvRule, sees_neither_batch_nor_threads_in_inference) {
  const ChoiceContext once{.instruction_set = this_instruction_set(), .form = Form::Inference, .threads = 1};
  for (const std::int64_t side : {3, 4, 7, 8, 13, 14, 28, 56}) {
    for (const std::int64_t window : {1, 3, 5}) {
      for (const std::int64_t stride : {1, 2}) {
        for (const std::int64_t channels : {16, 64, 512}) {
          const ConvAlgorithm of_one = chosen({1, channels, channels, side, window, stride}, kForward, once);
          for (const std::int64_t images : {2, 16, 40}) {
            for (const int threads : {1, 2, 16}) {
              ChoiceContext other = once;
              other.threads = threads;
              EXPECT_EQ(chosen({images, channels, channels, side, window, stride}, kForward, other), of_one)
                  << side << " " << window << " " << stride << " " << channels << " " << images << " " << threads;
            }
          }
        }
      }
    }
  }
}

// Checks that conv_rule() returns one of conv_candidates(), which can therefore compute the pass.
TEST(ConvRule, takes_a_candidate) {
  for (const InstructionSet set : kInstructionSets) {
    if (set > this_instruction_set()) continue;
    for (const DType dtype : {DType::F32, DType::Bf16}) {
      for (const Form form : {Form::Training, Form::Inference}) {
        const ChoiceContext context{.instruction_set = set, .form = form, .dtype = dtype, .threads = 2};
        for (const std::int64_t side : {1, 3, 14, 56}) {
          for (const std::int64_t window : {1, 3, 7}) {
            for (const ConvPass pass : {kForward, kData, kWeights}) {
              const ConvGeometry g = geometry({4, 64, 32, side, window, 1});
              const std::vector<ConvAlgorithm> candidates = conv_candidates(g, pass, context);
              const ConvAlgorithm taken = conv_rule(g, pass, context);
              EXPECT_TRUE(std::ranges::count(candidates, taken) == 1 && can_compute(taken, pass, g))
                  << name_of(set) << " " << side << " " << window << " " << name_of(pass) << " " << name_of(taken);
            }
          }
        }
      }
    }
  }
}

TEST(ConvRule, of_a_lesser_instruction_set_takes_none_of_the_kernels_that_it_lacks) {
  const ConvGeometry g = geometry({16, 64, 256, 56, 1});
  const ChoiceContext least{.instruction_set = InstructionSet::Avx2, .dtype = DType::Bf16, .threads = 2};
  EXPECT_EQ(conv_candidates(g, kForward, least), std::vector{ConvAlgorithm::Direct});
  ChoiceContext f32 = least;
  f32.dtype = DType::F32;
  EXPECT_EQ(conv_candidates(g, kForward, f32), std::vector{ConvAlgorithm::Direct});
}

TEST(ConvRule, has_split_products_on_tiles_alone) {
  if (!simd::has_tiles()) GTEST_SKIP() << "SKIPPED: this machine has no AMX for bf16";
  const ChoiceContext tiles{.instruction_set = InstructionSet::Amx, .threads = 2};
  EXPECT_EQ(chosen({16, 128, 128, 28, 3}, kData, tiles), ConvAlgorithm::Split2);
  EXPECT_EQ(chosen({16, 128, 128, 28, 3}, kForward, tiles), ConvAlgorithm::Winograd);
  EXPECT_EQ(chosen({16, 128, 512, 28, 1}, kForward, tiles), ConvAlgorithm::Direct);
  EXPECT_EQ(chosen({16, 128, 512, 28, 1}, kWeights, tiles), ConvAlgorithm::Split2);
}

TEST(InstructionSets, have_names_and_an_order) {
  for (const InstructionSet set : kInstructionSets) EXPECT_EQ(instruction_set(name_of(set)), set);
  EXPECT_TRUE(std::ranges::is_sorted(kInstructionSets));
  try {
    static_cast<void>(instruction_set("avx10"));
    ADD_FAILURE() << "expected to be refused";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "[engine.cpu] instruction set: expected one of avx2, avx512, avx512_bf16, amx, got avx10; try avx2");
  }
}

graph::Graph network(std::string_view name = "resnet18", std::int64_t image_px = 64, std::int64_t batch = 2) {
  return graph::with_loss(
      models::build_model(
          {.name = std::string(name), .labels = 3, .channels = 1, .image_px = image_px, .batch = batch}),
      {});
}

TEST(Choices, of_a_plan_are_the_rules) {
  const Plan plan = make_plan(network(), {.threads = 1, .slots = 1});
  EXPECT_EQ(plan.choice_revision, kChoiceRevision);
  EXPECT_EQ(plan.measured_choices, 0);
  EXPECT_EQ(make_plan(network(), {.threads = 1, .slots = 1}).hash(), plan.hash());
  EXPECT_GT(std::ranges::count(plan.choices | std::views::values, "winograd"), 0);
  EXPECT_GT(std::ranges::count(plan.choices | std::views::values, "direct"), 0);
}

// Checks that stored bf16 algorithms are refused for f32 values. Otherwise a resumed run in f32 would round its
// gradients, or kernels would read missing tensors.
TEST(Choices, of_bf16_values_are_refused_in_a_plan_of_f32) {
  const CompileOptions options{.threads = 1, .slots = 1};
  const Plan plan = make_plan(network(), options);
  const auto refusal = [](const CompileOptions& chosen) {
    try {
      static_cast<void>(make_plan(network(), chosen));
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  std::set<std::string> layers;
  for (const MeasuredChoice& choice : measure_choices(network(), options)) layers.insert(choice.layer);
  for (const std::string name : {"bf16", "winograd_bf16"}) {
    for (const std::string pass : {"forward", "backward_data", "backward_weights"}) {
      CompileOptions stored = options;
      stored.choices = plan.choices;
      stored.choices["layer1.0.conv1/" + pass] = name;
      EXPECT_THAT(refusal(stored),
                  testing::HasSubstr("layer1.0.conv1/" + pass + ": expected an algorithm for f32 values"));
    }
    CompileOptions measured = options;
    for (const std::string& layer : layers) measured.choice.measured[layer] = name;
    EXPECT_THAT(refusal(measured), testing::HasSubstr("expected an algorithm for f32 values, got " + name));
  }
}

TEST(Choices, follow_the_inputs_of_the_run_and_not_this_process) {
  const CompileOptions by_two{.threads = 1, .slots = 1, .choice = {.instruction_set = "avx2", .threads = 2}};
  const Plan plan = make_plan(network("resnet50"), by_two);
  EXPECT_EQ(std::ranges::count(plan.choices | std::views::values, "pointwise"), 0);
  CompileOptions by_auto = by_two;
  by_auto.dtype = std::nullopt;
  EXPECT_EQ(make_plan(network(), by_auto).dtype(), "f32") << "AVX2 has no products of bf16 numbers";
  CompileOptions beyond = by_two;
  beyond.choice.instruction_set = "amx";
  if (this_instruction_set() == InstructionSet::Amx) GTEST_SKIP() << "SKIPPED: this machine lacks no instruction set";
  try {
    static_cast<void>(make_plan(network(), beyond));
    ADD_FAILURE() << "expected to be refused";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("which this CPU has, got amx"));
  }
}

TEST(Choices, that_were_measured_take_the_place_of_the_rules) {
  const CompileOptions by_rule{.threads = 1, .slots = 1};
  const graph::Graph graph = network();
  const Plan plan = make_plan(graph, by_rule);
  CompileOptions options = by_rule;
  for (const MeasuredChoice& choice : measure_choices(graph, by_rule)) options.choice.measured[choice.layer] = "direct";
  const Plan measured = make_plan(graph, options);
  EXPECT_EQ(std::ranges::count(measured.choices | std::views::values, "direct"), std::ssize(measured.choices));
  EXPECT_EQ(measured.measured_choices, std::ssize(measured.choices));
  EXPECT_NE(measured.choices, plan.choices);
  options.choices = plan.choices;
  EXPECT_EQ(make_plan(graph, options).hash(), plan.hash()) << "a stored plan counts for more";
  options.choices.clear();
  for (auto& [layer, algorithm] : options.choice.measured) algorithm = "guessed";
  EXPECT_THROW(static_cast<void>(make_plan(graph, options)), ConfigError);
  options.form = Form::Inference;
  EXPECT_EQ(make_plan(graph, options).measured_choices, 0) << "inference goes by the rule";
}

}  // namespace
}  // namespace roentgen::engine::cpu
