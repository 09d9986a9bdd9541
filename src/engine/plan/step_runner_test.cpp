// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests how a plan runs with its memory and parameters, with the host as device.
#include "engine/plan/step_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/plan/finish_plan.h"
#include "engine/plan/parameter_map.h"
#include "engine/plan/plan_memory.h"
#include "engine/plan/toy_builder_testing.h"
#include "graph/passes/rewrite.h"

namespace roentgen::engine {
namespace {

/// The compiled toy network with its plan, parameters, memory and runner.
struct Compiled {
  explicit Compiled(const CompileOptions& compile) : options(compile) {
    builder.build();
    builder.emit_preparation(graph.node(1), {.what = "fold", .kind = "toy"}, builder.noting("fold"));
    arenas = finish_plan(builder);
    memory = std::make_unique<PlanMemory>(builder.plan, arenas, options.form, *device, *stream);
    runner = std::make_unique<StepRunner>(builder, builder.plan, arenas.buckets.size(), *device, *stream);
  }
  graph::Graph graph = toy_network();
  CompileOptions options;
  std::unique_ptr<runtime::Device> device = runtime::make_cpu_device();
  std::unique_ptr<runtime::Stream> stream = device->make_stream();
  ToyBuilder builder{graph, options, {Order::ChannelsLast, 8, DType::Bf16}, 2};
  Arenas arenas;
  std::unique_ptr<PlanMemory> memory;
  std::unique_ptr<StepRunner> runner;
};

TEST(StepRunner, runs_forward_then_backward_and_tells_of_each_bucket_once_it_is_final) {
  Compiled made({.bucket_bytes = 1024});
  ToyLog& log = *made.builder.log;
  made.runner->bind(made.memory->addresses());
  log.clear();
  made.runner->forward();
  EXPECT_EQ(std::ssize(log), made.builder.plan.forward_end);
  std::vector<std::size_t> entries_before;
  made.runner->backward([&](std::int64_t bucket, const runtime::Event& ready) {
    EXPECT_EQ(bucket, std::ssize(entries_before));
    EXPECT_TRUE(ready.is_reached());
    entries_before.push_back(log.size());
  });
  EXPECT_EQ(log.size(), made.builder.plan.entries.size());
  ASSERT_EQ(entries_before.size(), made.arenas.buckets.size());
  for (std::size_t bucket = 0; bucket < entries_before.size(); ++bucket) {
    const std::int32_t ready = made.builder.plan.bucket_ready.at(entries_before[bucket] - 1);
    EXPECT_GT(ready, static_cast<std::int32_t>(bucket)) << "told of before its last gradient";
  }
  EXPECT_LT(entries_before.front(), log.size()) << "the first bucket is final before backward ends";
  made.runner->backward({});
}

TEST(StepRunner, runs_preparations_once_until_parameters_change) {
  Compiled made({});
  made.runner->bind(made.memory->addresses());
  ToyLog& log = *made.builder.log;
  log.clear();
  made.runner->prepare();
  made.runner->prepare();
  EXPECT_EQ(log, ToyLog{"run fold"});
  made.runner->parameters_changed();
  made.runner->prepare();
  EXPECT_EQ(log.size(), 2U);
}

TEST(StepRunner, binds_again_only_what_reads_an_input) {
  Compiled made({});
  made.runner->bind(made.memory->addresses());
  made.builder.log->clear();
  made.runner->bind_inputs(made.memory->addresses());
  // The image is read by the entry that copies it to another layout, labels and mask by the loss.
  EXPECT_EQ(*made.builder.log, (ToyLog{"bind reorder", "bind loss/forward"}));
}

TEST(StepRunner, counts_the_calls_of_each_entry) {
  Compiled made({});
  made.runner->bind(made.memory->addresses());
  made.runner->forward();
  made.runner->forward();
  EXPECT_EQ(made.runner->times().front().calls, 2);
  EXPECT_EQ(made.runner->times().back().calls, 0);
  EXPECT_GE(made.runner->time_entry(0, 3), 0.0);
  made.runner->reset_times();
  EXPECT_EQ(made.runner->times().front().calls, 0);
}

TEST(ParameterMap, stores_what_was_loaded_and_pads_with_zeros) {
  Compiled made({});
  const ParameterMap map(made.graph, made.builder, made.builder.plan);
  Arena& arena = made.memory->parameters();
  const auto& parameters = made.graph.parameters();
  ASSERT_EQ(map.slices().size(), parameters.size());
  for (const ParameterSlice& slice : map.slices()) {
    const graph::Parameter& parameter = parameters.at(static_cast<std::size_t>(slice.parameter));
    EXPECT_EQ(slice.count, parameter.shape.elements() + 3);
    std::vector<float> values(static_cast<std::size_t>(parameter.shape.elements()));
    std::iota(values.begin(), values.end(), static_cast<float>(1 + slice.parameter));
    map.load(slice.parameter, values, arena);
    EXPECT_EQ(map.store(slice.parameter, arena), values);
    std::vector<float> padding(3, 1.0F);
    arena.download(slice.begin + slice.count - 3, padding);
    EXPECT_THAT(padding, testing::Each(0.0F));
    values.pop_back();
    EXPECT_THROW(map.load(slice.parameter, values, arena), ShapeError);
  }
  EXPECT_TRUE(std::ranges::is_sorted(map.slices(), {}, &ParameterSlice::begin));
}

TEST(PlanMemory, makes_arenas_alike_and_has_no_gradients_in_inference) {
  Compiled training({}), inference({.form = Form::Inference});
  EXPECT_EQ(training.memory->gradients().elements(), training.memory->parameters().elements());
  EXPECT_EQ(training.memory->make_arena(ArenaKind::Trained)->elements(), training.memory->parameters().elements());
  EXPECT_EQ(inference.memory->gradients().elements(), 0);
  std::vector<std::byte> slot(64);
  const TensorId image = training.builder.input_tensors.front();
  EXPECT_EQ(training.memory->addresses().bytes(image), nullptr);
  training.memory->set_input(image, slot.data());
  EXPECT_EQ(training.memory->addresses().bytes(image), slot.data());
}

}  // namespace
}  // namespace roentgen::engine
