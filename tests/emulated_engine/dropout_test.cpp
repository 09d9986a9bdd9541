// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares dropout of the CPU engine and of the emulated CUDA engine: both draw the same masks.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "engine/engine_list.h"
#include "graph/loss.h"
#include "graph/text.h"
#include "tests/emulated_engine/emulated_engine.h"

namespace roentgen::emulated {
namespace {

// 2 rows of 1,000 values: the masks of the first 1,024 and of the other values come from two random streams.
constexpr const char* kText = R"(graph "dropout"
input image (2, 1000, 1, 1)
flat = flatten(image)
drop = dropout(flat, p=0.4)
fc = linear(drop, out=1)
output drop = drop
output logits = fc
)";

/// Returns the values of a dropout of ones in this step.
std::vector<float> dropped(engine::Executable& executable, std::int64_t step) {
  const std::span<std::byte> image = executable.slot(0, 0);
  std::ranges::fill(std::span(reinterpret_cast<float*>(image.data()), image.size() / sizeof(float)), 1.0F);
  executable.bind_slot(0);
  executable.set_step(step);
  executable.begin_update();
  executable.forward();
  const std::span<const float> values = executable.read("drop");
  return {values.begin(), values.end()};
}

TEST(EmulatedDropout, mask_has_the_bits_of_the_cpus_in_every_step) {
  const graph::Graph graph = graph::with_loss(graph::parse_graph(kText, "dropout").or_throw(), {});
  const engine::CompileOptions options{.threads = 1, .seed = 20261121};
  const auto cpu = engine::make_cpu_engine(0)->compile(graph, options);
  const auto cuda = EmulatedEngine().compile(graph, options);
  initialise(*cpu, 1);
  initialise(*cuda, 1);
  std::vector<std::vector<float>> masks;
  for (const std::int64_t step : {0, 1}) {
    masks.push_back(dropped(*cpu, step));
    ASSERT_EQ(masks.back().size(), 2000U);
    EXPECT_EQ(dropped(*cuda, step), masks.back()) << "step " << step << ", seed " << options.seed;
    // 800 zeros are expected, with a standard deviation of 22.
    EXPECT_NEAR(static_cast<double>(std::ranges::count(masks.back(), 0.0F)), 800.0, 5.0 * 22.0);
  }
  EXPECT_NE(masks[0], masks[1]);
}

}  // namespace
}  // namespace roentgen::emulated
