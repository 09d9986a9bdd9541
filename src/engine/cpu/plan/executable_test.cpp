// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the public behaviour of the CPU executable: buckets, slots, parameters, plans, memory.
#include "engine/cpu/plan/executable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <ranges>
#include <set>

#include "core/error.h"
#include "core/random.h"
#include "engine/cpu/plan/plan_testing.h"
#include "engine/cpu/simd/isa.h"
#include "engine/cpu/simd/pointwise.h"
#include "engine/cpu/simd/tiles.h"
#include "graph/builder.h"
#include "graph/loss.h"
#include "models/model.h"

namespace roentgen::engine::cpu {
namespace {
using graph::Builder;

graph::Graph model(const std::string& name, std::int64_t batch = 2, std::int64_t image_px = 32) {
  models::ModelConfig config;
  config.name = name;
  config.labels = 3;
  config.channels = 1;
  config.image_px = image_px;
  config.batch = batch;
  return graph::with_loss(models::build_model(config), {});
}

// Graph with odd channel counts, both kinds of first layers, groups, residual, concatenation, pools, bias and dropout.
graph::Graph odd_graph() {
  Builder b("odd");
  const auto image = b.input("image", {2, 3, 13, 11});
  auto x =
      b.add("conv0", graph::Conv2d{.out_channels = 20, .kernel = {3, 3}, .stride = {2, 1}, .pad = {1, 1}}, {image});
  x = b.add("norm0", graph::BatchNorm{}, {x});
  x = b.add("relu0", graph::Relu{}, {x});
  const auto y = b.add("conv1", graph::Conv2d{.out_channels = 20, .kernel = {1, 1}, .groups = 5, .bias = false}, {x});
  x = b.add("add", graph::Add{}, {x, y});
  x = b.add("concat", graph::Concat{}, {x, y});
  x = b.add("pool", graph::MaxPool{}, {x});
  x = b.add("flatten", graph::Flatten{}, {x});
  x = b.add("dropout", graph::Dropout{.probability = 0.25}, {x});
  x = b.add("fc", graph::Linear{.out_features = 3}, {x});
  b.output("logits", x);
  return graph::with_loss(std::move(b).build(), {});
}

void fill_slot(Executable& executable, int slot, std::uint64_t seed) {
  for (std::size_t i = 0; i < executable.inputs().size(); ++i) {
    const std::span<std::byte> bytes = executable.slot(static_cast<std::int64_t>(i), slot);
    Random random(seed, RandomStage::Test, i);
    for (std::size_t k = 0; k + sizeof(float) <= bytes.size(); k += sizeof(float)) {
      float value = static_cast<float>(random.normal());
      if (executable.inputs()[i].name == "labels") value = random.chance(0.5) ? 1.0F : 0.0F;
      if (executable.inputs()[i].name == "mask") value = 1.0F;
      std::memcpy(bytes.data() + k, &value, sizeof(float));
    }
  }
}

std::unique_ptr<Executable> ready(const graph::Graph& graph, const CompileOptions& options = {}) {
  auto executable = make_executable(graph, options);
  initialise(*executable, 7);
  fill_slot(*executable, 0, 11);
  return executable;
}

std::vector<float> gradients_of_one_step(Executable& executable) {
  executable.forward();
  executable.backward(nullptr);
  return executable.gradients().values();
}

// Gradient or running statistic of each parameter, in the order of the graph.
using StepBits = std::vector<std::vector<float>>;

StepBits bits_of_one_step(Executable& executable) {
  executable.forward();
  executable.backward(nullptr);
  StepBits bits;
  for (std::size_t i = 0; i < executable.graph().parameters().size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    const bool is_trained = graph::is_trained(executable.graph().parameter(index).role);
    bits.push_back(is_trained ? executable.store_gradient(index) : executable.store(index));
  }
  return bits;
}

// Names of the convolution algorithms that this machine can run.
std::vector<std::string> algorithms_here() {
  std::vector<std::string> here{"direct", "winograd"};
  if (simd::bf16_unit()) here.insert(here.end(), {"split", "split2"});
  if (simd::has_avx512()) here.emplace_back("pointwise");
  return here;
}

void expect_whole_buckets(Executable& executable) {
  ASSERT_GT(executable.buckets().size(), 5U);
  std::int64_t next = 0;
  for (const Bucket& bucket : executable.buckets()) {
    EXPECT_EQ(bucket.begin, next);
    next = bucket.begin + bucket.count;
  }
  EXPECT_EQ(next, executable.gradients().elements());
  std::vector<float> seen(static_cast<std::size_t>(next));
  std::vector<std::int64_t> order;
  executable.forward();
  executable.backward([&](std::int64_t index, const runtime::Event&) {
    order.push_back(index);
    const Bucket& bucket = executable.buckets()[static_cast<std::size_t>(index)];
    executable.gradients().download(bucket.begin, std::span(seen).subspan(static_cast<std::size_t>(bucket.begin),
                                                                          static_cast<std::size_t>(bucket.count)));
  });
  ASSERT_EQ(order.size(), executable.buckets().size());
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_TRUE(seen == executable.gradients().values());
  EXPECT_LT(executable.plan().bucket_ready.front(), 1);
}

TEST(CpuExecutable, buckets_cover_the_arena_once_and_are_final_when_announced) {
  for (const std::string& algorithms : algorithms_here()) {
    SCOPED_TRACE(algorithms);
    expect_whole_buckets(
        *ready(model("densenet121"), {.bucket_bytes = 1U << 20, .algorithms = parse_algorithms(algorithms)}));
  }
}

TEST(CpuExecutable, every_parameter_comes_back_as_it_was_loaded) {
  for (const graph::Graph& graph : {odd_graph(), model("resnet18")}) {
    auto executable = make_executable(graph, {});
    for (std::size_t i = 0; i < graph.parameters().size(); ++i) {
      const auto index = static_cast<std::int32_t>(i);
      const std::vector<float> values = graph::initial_values(graph.parameters()[i], 3);
      executable->load(index, values);
      EXPECT_EQ(executable->store(index), values) << graph.parameters()[i].name;
      const auto arena = executable->make_arena(arena_kind(graph.parameters()[i]));
      executable->load(index, values, *arena);
      EXPECT_EQ(executable->store(index, *arena), values) << graph.parameters()[i].name;
    }
  }
}

TEST(CpuExecutable, a_wrong_number_of_values_is_refused_by_name) {
  auto executable = make_executable(odd_graph(), {});
  const std::vector<float> values(5);
  EXPECT_THROW(executable->load(0, values), ShapeError);
}

TEST(CpuExecutable, two_runs_give_the_same_bits) {
  for (const char* name : {"resnet18", "densenet121"}) {
    auto first = ready(model(name));
    auto second = ready(model(name));
    EXPECT_EQ(gradients_of_one_step(*first), gradients_of_one_step(*second)) << name;
    EXPECT_EQ(first->read("loss")[0], second->read("loss")[0]);
  }
}

TEST(CpuExecutable, recomputed_values_are_the_kept_ones_to_the_bit) {
  for (const char* name : {"resnet18", "densenet121"}) {
    std::map<std::string, std::size_t> bytes;
    std::map<std::string, StepBits> bits;
    for (const char* recompute : {"none", "auto", "all"}) {
      auto executable = ready(model(name), {.recompute = recompute});
      bytes[recompute] = executable->plan().memory.activations;
      bits[recompute] = bits_of_one_step(*executable);
    }
    EXPECT_LT(bytes["auto"], bytes["none"]) << name;
    EXPECT_LE(bytes["all"], bytes["auto"]) << name;
    EXPECT_EQ(bits["auto"], bits["none"]) << name;
    EXPECT_EQ(bits["all"], bits["none"]) << name;
  }
}

TEST(CpuExecutable, a_plan_alone_is_the_compiled_one) {
  for (const Form form : {Form::Training, Form::Inference}) {
    const CompileOptions options{.form = form, .recompute = "all"};
    const Plan plan = make_plan(model("resnet18"), options);
    const auto executable = make_executable(model("resnet18"), options);
    EXPECT_EQ(plan.text(), executable->plan().text());
    EXPECT_EQ(plan.memory.total(), executable->plan().memory.total());
  }
}

TEST(CpuExecutable, an_unknown_recomputation_is_refused) {
  EXPECT_THROW(static_cast<void>(make_executable(model("resnet18"), {.recompute = "some"})), ConfigError);
}

TEST(CpuExecutable, each_pass_gives_the_unfused_loss_within_rounding) {
  for (const char* name : {"resnet18", "densenet121"}) {
    auto plain = ready(model(name), {.fuse = "off", .algorithms = Algorithms::Direct});
    plain->forward();
    const float expected = plain->read("loss")[0];
    for (const char* fuse : {"on", "batch_norm_relu", "batch_norm_add_relu", "virtual_concat"}) {
      auto fused = ready(model(name), {.fuse = fuse, .algorithms = Algorithms::Direct});
      fused->forward();
      // Sums in another order differ by a few units in the last place per layer, over at most 121 layers.
      EXPECT_NEAR(fused->read("loss")[0], expected, 2e-5F * std::abs(expected)) << name << " " << fuse;
    }
  }
}

TEST(CpuExecutable, the_bound_slot_is_the_one_that_is_read) {
  auto executable = ready(model("resnet18"), {.form = Form::Inference, .slots = 3});
  fill_slot(*executable, 1, 12);
  executable->forward();
  const float first = executable->read("loss")[0];
  executable->bind_slot(1);
  executable->forward();
  const float second = executable->read("loss")[0];
  executable->bind_slot(0);
  executable->forward();
  EXPECT_NE(first, second);
  EXPECT_EQ(first, executable->read("loss")[0]);
}

TEST(CpuExecutable, no_primitive_falls_to_a_reference_implementation) {
  for (const char* name : {"resnet50", "densenet121"}) {
    const auto executable = make_executable(model(name, 4, 64), {});
    for (const PlanEntry& entry : executable->plan().entries) {
      EXPECT_FALSE(entry.implementation.starts_with("ref")) << entry.name << ": " << entry.implementation;
    }
  }
}

TEST(CpuExecutable, live_tensors_do_not_overlap_unless_written_in_place) {
  for (const auto& [graph, recompute] :
       {std::pair(odd_graph(), "auto"), std::pair(model("resnet50"), "auto"), std::pair(model("resnet50"), "all"),
        std::pair(model("densenet121"), "auto"), std::pair(model("resnet18"), "none")}) {
    for (const std::string& algorithms : algorithms_here()) {
      for (const int threads : {1, 3}) {
        const auto made = make_executable(
            graph, {.threads = threads, .algorithms = parse_algorithms(algorithms), .recompute = recompute});
        expect_no_overlap(made->plan(), threads);
      }
    }
  }
}

TEST(CpuExecutable, a_stored_plan_is_used_again_and_a_foreign_one_refused) {
  const auto first = make_executable(model("resnet18"), {});
  const auto again = make_executable(model("resnet18"), {.choices = first->plan().choices});
  EXPECT_EQ(first->plan().hash(), again->plan().hash());
  EXPECT_EQ(first->plan().text(), again->plan().text());
  EXPECT_THROW(static_cast<void>(make_executable(model("densenet121"), {.choices = first->plan().choices})),
               ConfigError);
  auto unknown = first->plan().choices;
  unknown.begin()->second = "sorcery";
  EXPECT_THROW(static_cast<void>(make_executable(model("resnet18"), {.choices = unknown})), ConfigError);
}

TEST(CpuExecutable, winograd_stays_within_its_bound_of_direct_and_is_stored_in_the_plan) {
  const graph::Graph graph = model("resnet18", 2, 64);
  auto direct = ready(graph);
  auto choices = direct->plan().choices;
  for (auto& [key, choice] : choices) {
    // These 3x3 convolutions have stride 1, and 64 channels or more.
    if (key.starts_with("layer1.0.conv1/") || key.starts_with("layer3.1.conv2/")) choice = "winograd";
  }
  auto winograd = ready(graph, {.choices = choices});
  EXPECT_EQ(winograd->plan().choices, choices);
  EXPECT_NE(winograd->plan().hash(), direct->plan().hash());
  for (Executable* executable : {direct.get(), winograd.get()}) {
    executable->forward();
    executable->backward(nullptr);
  }
  // F(4x4, 3x3) multiplies rounding errors by up to about 100 (its transforms have entries up to 8): 2e-5 per layer.
  EXPECT_NEAR(winograd->read("loss")[0], direct->read("loss")[0], 1e-4F * std::abs(direct->read("loss")[0]));
  double difference = 0.0, size = 0.0;
  for (std::size_t i = 0; i < graph.parameters().size(); ++i) {
    if (!graph::is_trained(graph.parameters()[i].role)) continue;
    const auto a = direct->store_gradient(static_cast<std::int32_t>(i));
    const auto b = winograd->store_gradient(static_cast<std::int32_t>(i));
    for (std::size_t k = 0; k < a.size(); ++k) {
      difference += std::pow(static_cast<double>(a[k]) - static_cast<double>(b[k]), 2);
      size += std::pow(static_cast<double>(a[k]), 2);
    }
  }
  EXPECT_LT(std::sqrt(difference / size), 1e-2);  // a flipped ReLU changes more than the rounding that flips it
  EXPECT_GT(difference, 0.0);
}

TEST(CpuExecutable, measuring_picks_a_known_algorithm_for_every_pass) {
  const auto executable = make_executable(model("resnet18", 2, 64), {.algorithms = Algorithms::Auto});
  std::size_t winograd = 0;
  for (const auto& [key, choice] : executable->plan().choices) {
    const std::string products = key.ends_with("/forward") ? "split" : "split2";
    EXPECT_TRUE(choice == "direct" || choice == "winograd" || choice == products) << key << ": " << choice;
    winograd += choice == "winograd" ? 1 : 0;
    // The stem has no blocks of channels, and Winograd cannot compute 1x1 convolutions.
    EXPECT_TRUE(!key.starts_with("conv1/") || choice == "direct") << key << ": " << choice;
    EXPECT_TRUE(key.find("downsample") == std::string::npos || choice != "winograd") << key;
  }
  const auto all = make_executable(model("resnet18", 2, 64), {.algorithms = Algorithms::Winograd});
  EXPECT_LE(winograd,
            static_cast<std::size_t>(std::ranges::count(all->plan().choices | std::views::values, "winograd")));
  // ResNet-18 has 13 convolutions of 3x3 without a stride, each with three passes.
  EXPECT_EQ(std::ranges::count(all->plan().choices | std::views::values, "winograd"), 3 * 13);
  const auto split = make_executable(model("resnet18", 2, 64), {.algorithms = Algorithms::Split});
  // All convolutions except the stem are split, if the machine has products of bf16 numbers.
  EXPECT_EQ(std::ranges::count(split->plan().choices | std::views::values, "split"), simd::bf16_unit() ? 3 * 19 : 0);
  EXPECT_THROW(static_cast<void>(make_executable(model("resnet18"), {.algorithms = parse_algorithms("fast")})),
               ConfigError);
}

TEST(CpuExecutable, half_the_split_products_are_for_gradients_alone) {
  if (!simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  const auto halved = make_executable(model("resnet18", 2, 64), {.algorithms = Algorithms::Split2});
  auto choices = halved->plan().choices;
  EXPECT_EQ(std::ranges::count(choices | std::views::values, "split"), 19);
  EXPECT_EQ(std::ranges::count(choices | std::views::values, "split2"), 2 * 19);
  choices.at("layer1.0.conv1/forward") = "split2";
  EXPECT_THROW(static_cast<void>(make_executable(model("resnet18", 2, 64), {.choices = choices})), ConfigError);
}

TEST(CpuExecutable, a_plan_of_six_products_in_backward_keeps_them) {
  if (!simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  const auto six = make_executable(model("resnet18", 2, 64), {.algorithms = Algorithms::Split});
  const CompileOptions stored{.algorithms = parse_algorithms(simd::has_tiles() ? "auto" : "split"),
                              .choices = six->plan().choices};
  const auto again = make_executable(model("resnet18", 2, 64), stored);
  EXPECT_EQ(again->plan().hash(), six->plan().hash());
  const auto three = make_executable(model("resnet18", 2, 64), {.algorithms = Algorithms::Split2});
  EXPECT_NE(three->plan().hash(), six->plan().hash());
}

TEST(CpuExecutable, backward_of_an_inference_form_is_refused) {
  auto executable = ready(model("resnet18"), {.form = Form::Inference});
  executable->forward();
  EXPECT_THROW(executable->backward(nullptr), ConfigError);
}

TEST(CpuExecutable, dropout_draws_by_step_and_the_same_again) {
  auto executable = ready(odd_graph(), {.seed = 5});
  std::vector<std::vector<float>> steps;
  for (const std::int64_t step : {0, 1, 0}) {
    initialise(*executable, 7);  // sets the running mean, which is the pivot of the statistics and affects last bits
    executable->set_step(step);
    steps.push_back(gradients_of_one_step(*executable));
  }
  EXPECT_NE(steps[0], steps[1]);
  EXPECT_EQ(steps[0], steps[2]);
}

// Network without convolutions, whose weight gradients may be summed in another order.
graph::Graph norms_of(const Shape& shape) {
  Builder b("norms");
  const auto image = b.input("image", shape);
  auto x = b.add("norm0", graph::BatchNorm{}, {image});
  x = b.add("relu0", graph::Relu{}, {x});
  x = b.add("norm1", graph::BatchNorm{}, {x});
  x = b.add("pool", graph::GlobalAvgPool{}, {x});
  x = b.add("flat", graph::Flatten{}, {x});
  b.output("logits", x);
  return graph::with_loss(std::move(b).build(), {});
}

// The division of the work depends on the tensor and the threads. The first tensor is divided by blocks of channels on
// one thread, by images on several. The second one, of 11 MiB, is divided by blocks on one and two threads, by images
// on three.
TEST(CpuExecutable, threads_and_how_norms_are_shared_out_leave_no_bit_of_our_kernels_changed) {
  for (const Shape& shape : {Shape{3, 40, 9, 7}, Shape{2, 32, 212, 212}}) {
    const graph::Graph graph = norms_of(shape);
    const std::vector<float> alone = gradients_of_one_step(*ready(graph, {.threads = 1}));
    for (const int threads : {2, 3, 5}) {
      EXPECT_EQ(gradients_of_one_step(*ready(graph, {.threads = threads})), alone) << threads << " threads";
    }
  }
}

TEST(CpuExecutable, the_profile_counts_every_entry) {
  auto executable = ready(model("resnet18"));
  executable->forward();
  executable->backward(nullptr);
  executable->reset_profile();
  for (int i = 0; i < 3; ++i) {
    executable->forward();
    executable->backward(nullptr);
  }
  const std::vector<EntryTime> times = executable->profile();
  ASSERT_EQ(times.size(), executable->plan().entries.size());
  for (const EntryTime& time : times) EXPECT_EQ(time.calls, 3);
  EXPECT_GT(executable->time_entry(0, 2), 0.0);
}

}  // namespace
}  // namespace roentgen::engine::cpu
