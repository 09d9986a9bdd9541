// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/reference/reference_engine_testing.h"
#include "graph/builder.h"

namespace roentgen::bench {
namespace {

using engine::reference::ReferenceEngine;

// Returns options of a network with two labels: image -> flatten -> linear.
NetworkOptions flat() {
  NetworkOptions options{.model = "flat", .batch = 4, .image_px = 16, .channels = 3, .labels = 2, .threads = 1};
  graph::Builder b("flat");
  const auto image = b.input("image", {options.batch, options.channels, options.image_px, options.image_px});
  const auto flat = b.add("flat", graph::Flatten{}, {image});
  b.output("logits", b.add("fc", graph::Linear{.out_features = options.labels}, {flat}));
  options.graph = std::move(b).build();
  return options;
}

// Benchmarks must use the same slot types as training.
TEST(BenchNetwork, has_slots_of_the_type_that_the_engine_asks_for) {
  for (const DType dtype : {DType::F32, DType::U16, DType::U8}) {
    ReferenceEngine engine;
    engine.slots = dtype;
    const auto training = compile_step(flat(), engine, {.slots = 2});
    ASSERT_EQ(training->inputs()[0].name, "image");
    EXPECT_EQ(training->inputs()[0].dtype, dtype);
    EXPECT_EQ(training->inputs()[1].dtype, DType::F32) << "labels";
    SgdSteps steps(*training);
    steps.run();
    EXPECT_TRUE(std::isfinite(steps.loss()));
    EXPECT_EQ(compile_inference(flat(), engine, 1)->inputs()[0].dtype, dtype);
  }
}

TEST(BenchNetwork, draws_pixels_whose_values_have_mean_0_and_variance_1) {
  ReferenceEngine engine;
  engine.slots = DType::U16;
  const auto executable = compile_step(flat(), engine, {.slots = 2});
  for (int slot = 0; slot < 2; ++slot) {
    const std::span<std::byte> bytes = executable->slot(0, slot);
    const std::size_t count = executable->inputs()[0].bytes / 2;
    double sum = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint16_t pixel = 0;
      std::memcpy(&pixel, bytes.data() + 2 * i, sizeof pixel);
      const double value = (pixel / 65535.0 - 0.5) * std::sqrt(12.0);
      sum += value;
      squares += value * value;
    }
    // Tolerances are four standard errors for 3,072 values: 1 / sqrt(3072) for the mean and 0.9 / sqrt(3072) for the
    // variance.
    EXPECT_NEAR(sum / static_cast<double>(count), 0.0, 0.08);
    EXPECT_NEAR(squares / static_cast<double>(count), 1.0, 0.07);
  }
}

}  // namespace
}  // namespace roentgen::bench
