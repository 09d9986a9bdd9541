// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/step.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/sanitizer_testing.h"
#include "graph/builder.h"
#include "graph/text.h"

namespace roentgen::bench {
namespace {

constexpr std::string_view kSmall = R"(graph "small"
input image (N, C, S, S)
first = conv2d(image, out=8, kernel=3x3, pad=1x1)
second = relu(first)
third = global_avg_pool(second)
flat = flatten(third)
fourth = linear(flat, out=K)
output logits = fourth
)";

NetworkOptions tiny() {
  return {.model = "resnet18",
          .batch = 2,
          .image_px = 32,
          .channels = 1,
          .labels = 3,
          .warmup = 1,
          .steps = 3,
          .threads = 1};
}

TEST(StepBench, reports_what_the_interface_promises) {
  const Value result = run_step(tiny());
  EXPECT_GT(result.at("images_per_s").as_double(), 0.0);
  EXPECT_DOUBLE_EQ(result.at("images_per_s").as_double(), 2.0 / (result.at("step_ms").at("median").as_double() * 1e-3));
  EXPECT_GE(result.at("step_ms").at("p95").as_double(), result.at("step_ms").at("median").as_double());
  EXPECT_GT(result.at("first_step_s").as_double(), 0.0);
  EXPECT_GT(result.at("peak_bytes").as_integer(), 4 * 11'000'000) << "ResNet-18 has 11.2 million parameters";
  EXPECT_EQ(result.at("threads").as_integer(), 1);
  EXPECT_EQ(result.at("plan_hash").as_string().size(), 16U);
  EXPECT_GE(result.at("framework_share").as_double(), 0.0);
  EXPECT_LT(result.at("framework_share").as_double(), 1.0);
  EXPECT_TRUE(result.at("profile").is_null());
  EXPECT_EQ(result.at("calibration").at("steps").as_array().size(), 4U) << "3 steps, and samples around each";
  EXPECT_TRUE(result.at("disturbance").at("other_cores").is_number());
}

// Returns options of a network with large activations (24 MiB each) and little arithmetic.
NetworkOptions wide() {
  return {.batch = 6, .image_px = 256, .channels = 3, .labels = 3, .warmup = 0, .steps = 2, .algorithms = "direct"};
}

graph::Graph finished(graph::Builder b, graph::NodeId last) {
  last = b.add("pool", graph::GlobalAvgPool{}, {last});
  last = b.add("flat", graph::Flatten{}, {last});
  b.output("logits", b.add("fc", graph::Linear{.out_features = wide().labels}, {last}));
  return std::move(b).build();
}

graph::Graph residual_network() {
  graph::Builder b("residual");
  auto x = b.input("image", {wide().batch, 3, 256, 256});
  const graph::Conv2d conv{.out_channels = 16, .kernel = {1, 1}, .bias = false};
  x = b.add("stem", conv, {x});
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    auto y = b.add("conv" + n, conv, {x});
    y = b.add("norm" + n, graph::BatchNorm{}, {y});
    y = b.add("add" + n, graph::Add{}, {y, x});
    x = b.add("relu" + n, graph::Relu{}, {y});
  }
  return finished(std::move(b), x);
}

graph::Graph dense_network() {
  graph::Builder b("dense");
  auto x = b.input("image", {wide().batch, 3, 256, 256});
  const graph::Conv2d conv{.out_channels = 16, .kernel = {1, 1}, .bias = false};
  x = b.add("stem", conv, {x});
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    auto y = b.add("norm" + n, graph::BatchNorm{}, {x});
    y = b.add("relu" + n, graph::Relu{}, {y});
    y = b.add("conv" + n, conv, {y});
    x = b.add("concat" + n, graph::Concat{}, {x, y});
  }
  x = b.add("last", graph::BatchNorm{}, {x});
  return finished(std::move(b), x);
}

TEST(StepBench, the_peak_told_before_the_first_step_is_the_measured_one_within_5_percent) {
  if (!kIsMemoryOurs) GTEST_SKIP() << kMemoryIsNotOurs;
  for (const graph::Graph& graph : {residual_network(), dense_network()}) {
    for (const char* recompute : {"auto", "none"}) {
      NetworkOptions options = wide();
      options.model = graph.name();
      options.graph = graph;
      options.recompute = recompute;
      const Value result = run_step(options);
      const Value& memory = result.at("memory");
      if (memory.at("measured_bytes").is_null())
        GTEST_SKIP() << "NOT TESTED: the kernel does not let the peak begin anew";
      const double planned = memory.at("planned_bytes").as_double();
      EXPECT_GT(planned, 150e6) << "too little to tell it from what else the process holds";
      EXPECT_NEAR(memory.at("measured_bytes").as_double() / planned, 1.0, 0.05) << graph.name() << ", " << recompute;
      EXPECT_EQ(memory.at("planned_bytes").as_integer(), result.at("peak_bytes").as_integer());
    }
  }
}

TEST(StepBench, tells_scratch_of_threads_where_kernels_of_ours_have_some) {
  NetworkOptions options = tiny();
  options.algorithms = "direct";
  EXPECT_EQ(run_step(options).at("memory").at("threads_scratch_bytes").as_integer(), 0);
  options.algorithms = "winograd";
  const Value result = run_step(options);
  const Value& memory = result.at("memory");
  EXPECT_GT(memory.at("threads_scratch_bytes").as_integer(), 0);
  EXPECT_LT(memory.at("threads_scratch_bytes").as_integer(), memory.at("activations_bytes").as_integer());
}

TEST(StepBench, recomputation_changes_memory_and_no_loss) {
  NetworkOptions options = tiny();
  std::vector<Value> results;
  for (const char* recompute : {"none", "auto", "all"}) {
    options.recompute = recompute;
    results.push_back(run_step(options));
    EXPECT_EQ(results.back().at("recompute").as_string(), recompute);
    EXPECT_EQ(results.back().at("checksum").as_string(), results.front().at("checksum").as_string()) << recompute;
  }
  EXPECT_GT(results[0].at("peak_bytes").as_integer(), results[1].at("peak_bytes").as_integer());
  EXPECT_GT(results[1].at("peak_bytes").as_integer(), results[2].at("peak_bytes").as_integer());
  options.recompute = "some";
  EXPECT_THROW(static_cast<void>(run_step(options)), ConfigError);
}

TEST(StepBench, measures_a_graph_of_its_own) {
  const graph::Graph small =
      graph::parse_graph(kSmall, "small", {.batch = 2, .channels = 1, .image_px = 32, .labels = 3}).or_throw<Error>();
  NetworkOptions options = tiny();
  options.model = "small.graph";
  options.graph = small;
  const Value result = run_step(options);
  EXPECT_EQ(result.at("model").as_string(), "small.graph");
  EXPECT_LT(result.at("peak_bytes").as_integer(), 4 * 1'000'000) << "no ResNet-18";
}

TEST(StepBench, refuses_a_loss_that_is_not_finite_and_says_what_to_try) {
  std::string text = "graph \"large\"\ninput image (N, C, S, S)\nv0 = global_avg_pool(image)\n";
  constexpr int kDoublings = 300;  // 2^300 exceeds the range of float
  for (int i = 0; i < kDoublings; ++i) text += fmt::format("v{} = add(v{}, v{})\n", i + 1, i, i);
  text += fmt::format("flat = flatten(v{})\nlast = linear(flat, out=K)\noutput logits = last\n", kDoublings);
  const graph::Graph large =
      graph::parse_graph(text, "large", {.batch = 2, .channels = 1, .image_px = 32, .labels = 3}).or_throw<Error>();
  NetworkOptions options = tiny();
  options.graph = large;
  try {
    static_cast<void>(run_step(options));
    FAIL() << "not refused";
  } catch (const DataError& error) {
    EXPECT_NE(std::string_view(error.what()).find("[bench.step] step 1: expected a finite loss, got"),
              std::string_view::npos)
        << error.what();
    EXPECT_NE(std::string_view(error.what()).find("; try fewer --steps"), std::string_view::npos) << error.what();
  }
}

TEST(StepBench, refuses_a_graph_of_other_sizes) {
  const graph::Graph small =
      graph::parse_graph(kSmall, "small", {.batch = 4, .channels = 1, .image_px = 32, .labels = 3}).or_throw<Error>();
  NetworkOptions options = tiny();
  options.graph = small;
  try {
    static_cast<void>(run_step(options));
    FAIL() << "images_per_s would count 2 of 4 images";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string_view(error.what()).find("expected (2, 1, 32, 32), got (4, 1, 32, 32)"),
              std::string_view::npos)
        << error.what();
  }
}

TEST(StepBench, floor_is_the_step_without_everything_but_convolutions) {
  const Value result = run_step(tiny());
  ASSERT_TRUE(result.at("conv_floor_ms").is_number());
  EXPECT_GT(result.at("conv_floor_ms").as_double(), 0.0);
  EXPECT_DOUBLE_EQ(result.at("floor_ratio").as_double(),
                   result.at("step_ms").at("median").as_double() / result.at("conv_floor_ms").as_double());
}

TEST(StepBench, says_when_the_machine_was_busy) {
  const std::array quiet{1.0, 1.1, 1.2};
  const std::array busy{1.0, 1.1, 1.3};
  EXPECT_TRUE(signs_of_other_work(quiet, 1.2).empty());
  EXPECT_TRUE(signs_of_other_work(quiet, std::nullopt).empty());
  ASSERT_EQ(signs_of_other_work(busy, 1.2).size(), 1U);
  EXPECT_NE(signs_of_other_work(busy, 1.2)[0].find("1.30 times"), std::string::npos);
  ASSERT_EQ(signs_of_other_work(quiet, 0.97).size(), 1U);
  EXPECT_NE(signs_of_other_work(quiet, 0.97)[0].find("0.97"), std::string::npos);
  EXPECT_EQ(signs_of_other_work(busy, 0.97).size(), 2U);
  EXPECT_TRUE(signs_of_other_work(quiet, 4.9).empty());
  ASSERT_EQ(signs_of_other_work(quiet, 59.66).size(), 1U) << "all steps slowed down alike";
  EXPECT_NE(signs_of_other_work(quiet, 59.66)[0].find("59.7 times as long"), std::string::npos);
}

TEST(StepBench, floor_does_not_change_the_steps) {
  // Convolutions alone are first timed between warm-up and measured steps. A longer warm-up must not change the losses.
  NetworkOptions late = tiny();
  late.warmup = 3;
  late.steps = 1;
  EXPECT_EQ(run_step(tiny()).at("checksum"), run_step(late).at("checksum"));
}

TEST(StepBench, trains_on_its_one_batch) {
  NetworkOptions options = tiny();
  options.steps = 12;
  const Value result = run_step(options);
  EXPECT_LT(result.at("loss_last").as_double(), result.at("loss_first").as_double());
}

TEST(StepBench, same_options_give_the_same_checksum) {
  EXPECT_EQ(run_step(tiny()).at("checksum"), run_step(tiny()).at("checksum"));
}

TEST(StepBench, shares_of_the_profile_add_up_to_one) {
  NetworkOptions options = tiny();
  options.has_profile = true;
  const Value result = run_step(options);
  double share = 0.0;
  bool has_convolution = false;
  for (const Value& row : result.at("profile").as_array()) {
    share += row.at("share").as_double();
    if (row.at("kind").as_string() != "conv2d_forward") continue;
    has_convolution = true;
    EXPECT_GT(row.at("gflops").as_double(), 0.0);
  }
  EXPECT_TRUE(has_convolution);
  // Tolerance for rounding in a sum of a dozen shares.
  EXPECT_NEAR(share, 1.0, 1e-9);
}

TEST(StepBench, layers_add_up_to_the_profile) {
  NetworkOptions options = tiny();
  EXPECT_TRUE(run_step(options).at("layers").is_null());
  options.has_profile = true;
  const Value result = run_step(options);
  double of_layers_ms = 0.0, of_kinds_ms = 0.0;
  for (const Value& layer : result.at("layers").as_array()) {
    of_layers_ms += layer.at("ms").as_double();
    EXPECT_LE(layer.at("best_ms").as_double(), layer.at("ms").as_double() * (1.0 + 1e-9));
    const std::string& kind = layer.at("kind").as_string();
    const bool has_floor = kind.starts_with("conv2d_") || kind.starts_with("linear_");
    EXPECT_EQ(layer.at("floor_ms").is_number(), has_floor) << layer.at("name").as_string();
  }
  for (const Value& row : result.at("profile").as_array()) {
    const std::string& kind = row.at("kind").as_string();
    if (kind != "optimizer" && kind != "outside_kernels") of_kinds_ms += row.at("ms").as_double();
  }
  EXPECT_NEAR(of_layers_ms, of_kinds_ms, 1e-9 * of_kinds_ms);
}

TEST(StepBench, refuses_options_out_of_range) {
  NetworkOptions options = tiny();
  options.steps = 0;
  EXPECT_THROW(static_cast<void>(run_step(options)), ConfigError);
  options = tiny();
  options.warmup = -1;
  EXPECT_THROW(static_cast<void>(run_step(options)), ConfigError);
  options = tiny();
  options.threads = -1;
  EXPECT_THROW(static_cast<void>(run_step(options)), ConfigError);
  options = tiny();
  options.batch = 0;
  EXPECT_THROW(static_cast<void>(run_step(options)), ConfigError);
}

TEST(StepBench, unknown_model_and_device_are_named) {
  NetworkOptions options = tiny();
  options.model = "resnet17";
  EXPECT_THROW(static_cast<void>(run_step(options)), ConfigError);
  options = tiny();
  options.device = "tpu";
  EXPECT_THROW(static_cast<void>(run_step(options)), ConfigError);
}

TEST(StepBench, cuda_refuses_in_one_line_before_any_step) {
  NetworkOptions options = tiny();
  options.device = "cuda";
  try {
    static_cast<void>(run_step(options));
    FAIL() << "there are no CUDA kernels yet";
  } catch (const DeviceError& error) {
    const std::string_view text = error.what();
    EXPECT_NE(text.substr(0, text.find(']')).find(".cuda"), std::string_view::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string_view::npos) << text;
  }
}

}  // namespace
}  // namespace roentgen::bench
