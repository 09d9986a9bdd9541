// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests steps of whole networks on the emulated CUDA engine: parity with the double reference, ten updates, equal bits
// in any schedule, and steps without effect.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <regex>

#include "engine/conformance/conformance_testing.h"
#include "graph/text.h"
#include "models/conv_block.h"
#include "tests/emulated_engine/steps_testing.h"

namespace roentgen::emulated {
namespace {
using engine::conformance::Case;

void expect_parity(const Case& tested) {
  EmulatedEngine engine;
  const auto report =
      engine::conformance::run_case(engine, tested, {.compile = {.dtype = DType::F32}, .gradient_floor = 0.05});
  EXPECT_TRUE(report.passed()) << report.failures();
}

TEST(EmulatedCuda, step_of_resnet18_agrees_with_the_reference) {
  expect_parity(network("resnet18", 4, models::Stem::ImageNet, 16));
}

TEST(EmulatedCuda, step_of_resnet50_agrees_with_the_reference) {
  expect_parity(network("resnet50", 12, models::Stem::ImageNet, 8));
}

TEST(EmulatedCuda, step_of_densenet121_agrees_with_the_reference) {
  // A growth of 8 makes segments whole packs.
  expect_parity(network("densenet121", 4, models::Stem::ImageNet, 16));
}

/// Returns the case with dropouts of probability 0, because the reference drops nothing.
Case without_dropout(Case tested) {
  const std::regex dropout(R"(dropout\(([^,)]+)[^)]*\))");
  const std::string text = std::regex_replace(graph::print_graph(tested.graph), dropout, "dropout($1, p=0)");
  tested.graph = graph::parse_graph(text, tested.name).or_throw();
  return tested;
}

TEST(EmulatedCuda, step_of_vgg16_agrees_with_the_reference) {
  expect_parity(without_dropout(network("vgg16", 2, models::Stem::ImageNet, 8)));
}

TEST(EmulatedCuda, step_of_googlenet_agrees_with_the_reference) {
  expect_parity(without_dropout(network("googlenet", 4, models::Stem::ImageNet, 8)));
}

// Branches of Inception-v3's modules C, D and E at 9 px; the network itself needs 75 px.
TEST(EmulatedCuda, step_of_inception_modules_agrees_with_the_reference) {
  constexpr std::int64_t kBatch = 4, kLabels = 3;
  const models::ModelConfig config{.width = 64};
  graph::Builder builder("inception_modules");
  models::ConvBlocks blocks(builder, config, {.kind = graph::Init::Kind::UniformFanIn});
  const auto averaged = [&](const std::string& name, graph::NodeId src) {
    return blocks.add(
        name, {.channels = 8},
        builder.add(name + ".pool", graph::AvgPool{.kernel = {3, 3}, .stride = {1, 1}, .pad = {1, 1}}, {src}));
  };
  graph::NodeId x = builder.input("image", {kBatch, 1, 9, 9});
  x = builder.add(
      "c", graph::Concat{},
      {blocks.add_sequence("c.seven", {models::same(8, 1, 7), models::same(16, 7, 1)}, x), averaged("c.mean", x)});
  x = builder.add("d", graph::Concat{},
                  {blocks.add_sequence("d.three", {{.channels = 8}, models::halving(16)}, x),
                   builder.add("d.pool", graph::MaxPool{.kernel = {3, 3}, .stride = {2, 2}}, {x})});
  const graph::NodeId shared = blocks.add("e.shared", {.channels = 16}, x);
  x = builder.add("e", graph::Concat{},
                  {blocks.add("e.wide", models::same(8, 1, 3), shared),
                   blocks.add("e.high", models::same(8, 3, 1), shared), averaged("e.mean", x)});
  x = builder.add("flat", graph::Flatten{}, {builder.add("mean", graph::GlobalAvgPool{}, {x})});
  builder.output("logits", builder.add("fc", graph::Linear{.out_features = kLabels}, {x}));
  expect_parity(with_targets("inception_modules", std::move(builder).build(), kBatch, kLabels));
}

// Gradients of a random network in bf16 differ by more than rounding where a ReLU's sign flips, so the bound is that of
// the conformance suite.
TEST(EmulatedCuda, step_of_resnet18_in_bf16_agrees_with_the_reference) {
  const Case tested = network("resnet18", 4, models::Stem::ImageNet, 16);
  EmulatedEngine engine;
  const auto report = engine::conformance::run_case(engine, tested,
                                                    {.compile = {.dtype = DType::Bf16},
                                                     .bound_scale = engine::conformance::bf16_scale(tested),
                                                     .gradient_floor = 0.05});
  EXPECT_TRUE(report.passed()) << report.failures();
}

// Two runs that each time convolution plans may choose plans that sum in another order. Here every plan differs. In f32
// a sum changes in its last bits. In bf16 a value may round to its neighbour, so the bound is that of steps in bf16
// against steps in f32.
TEST(EmulatedCuda, other_convolution_plans_change_losses_by_rounding_only) {
  const Case tested = network("resnet18", 12, models::Stem::ImageNet, 8);
  for (const auto& [type, bound] : {std::pair{DType::F32, 1e-4F}, std::pair{DType::Bf16, 0.05F}}) {
    engine::CompileOptions options{.dtype = type};
    const Trained first = train(tested, options, EmulatedEngine(), engine::Sgd{}, 5);
    EXPECT_EQ(train(tested, options, EmulatedEngine(), engine::Sgd{}, 5).losses, first.losses);
    options.choices = EmulatedEngine().plan(tested.graph, options).choices;
    std::ptrdiff_t changed = 0;
    for (auto& [entry, choice] : options.choices) {
      if (choice != "forward") continue;
      choice = "backward", ++changed;
    }
    EXPECT_GT(changed, 50);
    const Trained other = train(tested, options, EmulatedEngine(), engine::Sgd{}, 5);
    EXPECT_NE(other.parameters, first.parameters);
    float largest = 0.0F;
    for (std::size_t i = 0; i < first.losses.size(); ++i) {
      largest = std::max(largest, std::abs(other.losses[i] / first.losses[i] - 1.0F));
    }
    std::printf("%s: losses differ by a share of up to %.1e\n", std::string(name_of(type)).c_str(), largest);
    EXPECT_LE(largest, bound) << name_of(type);
  }
}

// Number of plan entries with this kind and implementation.
std::int64_t count(const engine::Plan& plan, std::string_view kind, std::string_view implementation) {
  return std::ranges::count_if(plan.entries, [&](const engine::PlanEntry& entry) {
    return entry.kind == kind && entry.implementation == implementation;
  });
}

TEST(EmulatedCuda, pooling_of_a_stem_normalises_what_it_reads) {
  EmulatedEngine engine;
  const Case tested = network("resnet18", 2, models::Stem::ImageNet, 8);
  for (const bool is_fused : {false, true}) {
    const engine::Plan plan = engine.plan(tested.graph, {.fuse = is_fused ? "on" : "on,-normalised_input"});
    EXPECT_EQ(count(plan, "norm_pool_forward", "norm+relu+pool"), is_fused ? 1 : 0);
    EXPECT_EQ(count(plan, "norm_pool_backward", "norm+pool"), is_fused ? 1 : 0);
    EXPECT_EQ(count(plan, "pool_forward", "window"), is_fused ? 1 : 2);  // plus the pooling of the head
    EXPECT_EQ(plan.fused.contains("normalised_input"), is_fused);
  }
}

TEST(EmulatedCuda, relu_acts_where_a_bias_is_added) {
  EmulatedEngine engine;
  const Case tested = network("vgg16", 2, models::Stem::ImageNet, 8);
  for (const engine::Form form : {engine::Form::Training, engine::Form::Inference}) {
    const engine::Plan plan = engine.plan(tested.graph, {.form = form});
    EXPECT_EQ(count(plan, "bias", "flat+relu"), 13 + 2);
    EXPECT_EQ(count(plan, "bias", "flat"), 1);
    EXPECT_EQ(count(plan, "relu_forward", "flat"), 0);
    const bool is_training = form == engine::Form::Training;
    EXPECT_EQ(count(plan, "relu_backward", "relu+bias"), is_training ? 13 : 0);
    EXPECT_EQ(count(plan, "relu_backward", "flat"), is_training ? 2 : 0) << "of linear layers";
    EXPECT_EQ(count(plan, "bias_gradient", "sum_rows"), is_training ? 3 : 0) << "of linear layers";
  }
}

// DenseNet's concatenations are never stored, moments are computed once per segment, and batch norms share backward
// passes.
TEST(EmulatedCuda, plan_of_densenet_reads_segments) {
  const Case tested = network("densenet121", 2, models::Stem::ImageNet, 16);
  EmulatedEngine engine;
  const engine::Plan plan = engine.plan(tested.graph, {.dtype = DType::Bf16});
  constexpr int kLayers = 6 + 12 + 24 + 16, kBlocks = 4;
  EXPECT_EQ(count(plan, "concat_forward", "copy"), 0);
  EXPECT_EQ(count(plan, "batch_norm_moments", "norm"), kLayers + kBlocks);
  EXPECT_EQ(count(plan, "concat_batch_norm_forward", "segments+relu"), kLayers + kBlocks);
  // A block of n layers has n + 1 batch norms; n of them have a segment that another one reads.
  EXPECT_EQ(count(plan, "concat_batch_norm_backward", "segments, two norms"), kLayers / 2);
  EXPECT_EQ(count(plan, "concat_batch_norm_finish", "norm"), kLayers + kBlocks);
}

// Runs the same work in every order that streams and events allow, and in every order of threads. Slots are filled
// again as early as allowed, or not.
TEST(EmulatedCuda, ten_steps_give_the_same_bits_in_any_schedule) {
  const Case tested = network("resnet18", 2, models::Stem::ImageNet, 8);
  const Trained wanted = train(tested, {.dtype = DType::Bf16}, EmulatedEngine(), engine::Sgd{}, 10, Slots::Kept);
  for (const float loss : wanted.losses) EXPECT_TRUE(std::isfinite(loss));
  for (const Schedule schedule : {Schedule::LatestFirst, Schedule::OnlyNeeded, Schedule::Random}) {
    const DeviceOptions device{.schedule = schedule, .order = Order::Random, .seed = kSeed};
    const Trained got = train(tested, {.dtype = DType::Bf16}, EmulatedEngine(device), engine::Sgd{}, 10);
    EXPECT_EQ(got.losses, wanted.losses) << "schedule " << static_cast<int>(schedule) << ", seed " << kSeed;
    EXPECT_EQ(got.parameters, wanted.parameters) << "schedule " << static_cast<int>(schedule) << ", seed " << kSeed;
  }
}

// Pixels are read from the device's copy of the slot after it has arrived and before the next one overwrites it.
TEST(EmulatedCuda, steps_from_pixels_give_the_same_bits_in_any_schedule) {
  const Case tested = network("resnet18", 2, models::Stem::ImageNet, 8);
  const engine::CompileOptions options{.input_norm = engine::InputNorm{}, .dtype = DType::Bf16};
  const Trained wanted = train(tested, options, EmulatedEngine({}, Graphs::None), engine::Sgd{}, 6, Slots::Kept);
  for (const float loss : wanted.losses) EXPECT_TRUE(std::isfinite(loss));
  for (const Schedule schedule : {Schedule::LatestFirst, Schedule::OnlyNeeded, Schedule::Random}) {
    const DeviceOptions device{.schedule = schedule, .order = Order::Random, .seed = kSeed};
    const Trained got = train(tested, options, EmulatedEngine(device), engine::Sgd{}, 6);
    EXPECT_EQ(got.losses, wanted.losses) << "schedule " << static_cast<int>(schedule) << ", seed " << kSeed;
    EXPECT_EQ(got.parameters, wanted.parameters) << "schedule " << static_cast<int>(schedule) << ", seed " << kSeed;
  }
}

// A recorded CUDA graph keeps the arguments of its capture. Values that change between steps (slots, learning rate,
// dropout's step) must not be among them.
TEST(EmulatedCuda, recorded_steps_give_the_bits_of_queued_ones) {
  for (const char* name : {"resnet18", "vgg16"}) {
    const Case tested = network(name, 2, models::Stem::ImageNet, 8);
    const Trained wanted = train(tested, {.dtype = DType::Bf16}, EmulatedEngine({}, Graphs::None), engine::Adam{}, 6);
    const Trained got = train(tested, {.dtype = DType::Bf16}, EmulatedEngine(), engine::Adam{}, 6);
    EXPECT_EQ(got.losses, wanted.losses) << name << ", seed " << kSeed;
    EXPECT_EQ(got.parameters, wanted.parameters) << name << ", seed " << kSeed;
  }
}

// A backward in parts that end buckets, each with a graph of its own, gives the bits of a backward in one piece.
TEST(EmulatedCuda, steps_with_buckets_give_the_bits_of_steps_in_one_piece) {
  const Case tested = network("resnet18", 2, models::Stem::ImageNet, 8);
  const engine::CompileOptions options{.bucket_bytes = 65536, .dtype = DType::Bf16};
  const Trained wanted = train(tested, options, EmulatedEngine(), engine::Adam{}, 6);
  std::int64_t last = -1;
  const Trained got = train(tested, options, EmulatedEngine(), engine::Adam{}, 6, Slots::Reused,
                            [&](std::int64_t bucket, const runtime::Event&) { last = bucket; });
  EXPECT_GT(last, 3) << "several parts";
  EXPECT_EQ(got.losses, wanted.losses) << "seed " << kSeed;
  EXPECT_EQ(got.parameters, wanted.parameters) << "seed " << kSeed;
}

// Ten steps in bf16 lower the loss as in f32. Logits of a network of 20 layers have errors of about 2^-9 sqrt(20), or
// 1%; loss and weights have similar errors.
TEST(EmulatedCuda, ten_steps_in_bf16_follow_those_in_f32) {
  const Case tested = network("resnet18", 12, models::Stem::ImageNet, 8);
  const Trained wanted = train(tested, {.dtype = DType::F32}, EmulatedEngine(), engine::Sgd{}, 10);
  const Trained got = train(tested, {.dtype = DType::Bf16}, EmulatedEngine(), engine::Sgd{}, 10);
  for (std::size_t i = 0; i < wanted.losses.size(); ++i) {
    EXPECT_NEAR(got.losses[i], wanted.losses[i], 0.05F * wanted.losses[i]) << "step " << i << ", seed " << kSeed;
  }
  EXPECT_NE(got.losses, wanted.losses);
}

// Planning needs no device memory and gives the same plan as compile().
TEST(EmulatedCuda, plan_is_that_of_compile_and_its_choices_are_obeyed) {
  const Case tested = network("resnet18", 2, models::Stem::ImageNet, 8);
  EmulatedEngine engine;
  const engine::Plan plan = engine.plan(tested.graph, {.dtype = DType::Bf16});
  EXPECT_EQ(plan.hash(), engine.compile(tested.graph, {.dtype = DType::Bf16})->plan().hash());
  EXPECT_EQ(plan.dtype(), "bf16");
  std::map<std::string, std::string> others = plan.choices;
  for (auto& [name, choice] : others) {
    if (choice == "forward") choice = "backward";
  }
  const engine::Plan obeyed = engine.plan(tested.graph, {.choices = others});
  EXPECT_EQ(obeyed.choices, others);
  others.erase(std::prev(others.end()));
  EXPECT_THROW(static_cast<void>(engine.plan(tested.graph, {.choices = others})), Error);
}

}  // namespace
}  // namespace roentgen::emulated
