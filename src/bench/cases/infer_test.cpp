// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/infer.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "graph/text.h"

namespace roentgen::bench {
namespace {

InferOptions tiny() {
  return {.network = {.model = "resnet18",
                      .image_px = 32,
                      .channels = 1,
                      .labels = 3,
                      .warmup = 1,
                      .steps = 2,
                      .threads = 1,
                      .algorithms = "direct"},
          .batches = {1, 2},
          .rounds = 2};
}

TEST(InferBench, reports_what_the_interface_promises) {
  const Value result = run_infer(tiny());
  ASSERT_EQ(result.at("batches").as_array().size(), 2U);
  for (const Value& row : result.at("batches").as_array()) {
    EXPECT_DOUBLE_EQ(row.at("images_per_s").as_double(),
                     row.at("batch").as_double() / (row.at("p50_ms").as_double() * 1e-3));
    EXPECT_LE(row.at("p50_ms").as_double(), row.at("p95_ms").as_double());
    EXPECT_LE(row.at("p95_ms").as_double(), row.at("p99_ms").as_double());
    EXPECT_GT(row.at("gain").as_double(), 0.0);
    EXPECT_GT(row.at("peak_bytes").as_integer(), 4 * 11'000'000) << "ResNet-18 has 11.2 million parameters";
  }
  EXPECT_GT(result.at("rounding").as_double(), 0.0) << "folded weights round differently";
  EXPECT_LE(result.at("rounding").as_double(), kMostRounding);
  EXPECT_EQ(result.at("plan_hash").as_string().size(), 16U);
  EXPECT_TRUE(result.at("profile").is_null());
  EXPECT_TRUE(result.at("layers").is_null());
}

TEST(InferBench, same_options_give_the_same_checksum_and_another_fuse_another) {
  InferOptions options = tiny();
  const Value first = run_infer(options);
  EXPECT_EQ(first.at("checksum"), run_infer(options).at("checksum"));
  options.network.fuse = "off";
  const Value off = run_infer(options);
  EXPECT_NE(first.at("checksum"), off.at("checksum"));
  EXPECT_EQ(off.at("rounding").as_double(), 0.0);
}

TEST(InferBench, profile_has_no_batch_norm_that_stands_alone) {
  InferOptions options = tiny();
  options.network.has_profile = true;
  const Value result = run_infer(options);
  double share = 0.0;
  for (const Value& row : result.at("profile").as_array()) {
    share += row.at("share").as_double();
    EXPECT_FALSE(row.at("kind").as_string().starts_with("batch_norm")) << row.at("kind").as_string();
  }
  EXPECT_NEAR(share, 1.0, 1e-9);
  bool has_convolution = false;
  for (const Value& layer : result.at("layers").as_array()) {
    EXPECT_LE(layer.at("best_ms").as_double(), layer.at("ms").as_double() * (1.0 + 1e-9));
    EXPECT_TRUE(layer.at("floor_ms").is_null());
    has_convolution |= layer.at("kind").as_string() == "conv2d_forward";
  }
  EXPECT_TRUE(has_convolution);
}

TEST(InferBench, measures_graphs_of_its_own) {
  constexpr std::string_view kText = R"(graph "small"
input image (N, C, S, S)
a = conv2d(image, out=8, kernel=3x3)
b = batch_norm(a)
c = global_avg_pool(b)
d = flatten(c)
e = linear(d, out=K)
output logits = e
)";
  const auto graph_of = [&](std::int64_t batch) {
    return graph::parse_graph(kText, "small", {.batch = batch, .channels = 1, .image_px = 32, .labels = 3})
        .or_throw<Error>();
  };
  const graph::Graph one = graph_of(1), two = graph_of(2);
  InferOptions options = tiny();
  options.graphs = {one, two};
  EXPECT_LT(run_infer(options).at("batches").as_array()[1].at("peak_bytes").as_integer(), 4 * 1'000'000);
  options.graphs = {two, one};
  EXPECT_THROW(static_cast<void>(run_infer(options)), ConfigError) << "images_per_s would count other images";
}

TEST(InferBench, refuses_options_out_of_range) {
  InferOptions options = tiny();
  options.network.steps = 0;
  EXPECT_THROW(static_cast<void>(run_infer(options)), ConfigError);
  options = tiny();
  options.rounds = 0;
  EXPECT_THROW(static_cast<void>(run_infer(options)), ConfigError);
  options = tiny();
  options.batches.clear();
  EXPECT_THROW(static_cast<void>(run_infer(options)), ConfigError);
}

}  // namespace
}  // namespace roentgen::bench
