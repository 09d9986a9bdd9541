// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <gtest/gtest.h>

#include "core/error.h"
#include "engine/engine.h"
#include "engine/engine_list.h"
#include "runtime/stream.h"

namespace roentgen::engine {
namespace {

constexpr std::string_view kGraph = R"(graph "tiny"
input image (2, 1, 8, 8)
first = conv2d(image, out=4, kernel=3x3)
second = relu(first)
output logits = second
)";

// One line, "[engine.cuda] ..." or "[runtime.cuda] ...", that names `part`.
void expect_text(std::string_view text, std::string_view part) {
  EXPECT_TRUE(text.starts_with("[engine.cuda] ") || text.starts_with("[runtime.cuda] ")) << text;
  EXPECT_NE(text.find(part), std::string_view::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string_view::npos) << text;
}

TEST(CudaEngine, without_a_device_says_why_in_one_line) {
  const runtime::CudaInventory inventory = runtime::find_cuda_devices();
  if (!inventory.devices.empty()) {
    GTEST_SKIP() << "SKIPPED, it is about machines without a device: " << inventory.devices[0].name;
  }
  try {
    static_cast<void>(make_cuda_engine(0));
    FAIL() << "an engine without a device";
  } catch (const DeviceError& error) {
    expect_text(error.what(), inventory.why_none);
  }
}

TEST(CudaEngine, compile_names_the_first_op_it_has_no_kernel_for) {
  const runtime::CudaInventory inventory = runtime::find_cuda_devices();
  if (inventory.devices.empty()) GTEST_SKIP() << "NO CUDA DEVICE, NOTHING TESTED: " << inventory.why_none;
  const auto engine = make_cuda_engine(0);
  EXPECT_NE(engine->description().find(inventory.devices[0].name), std::string::npos);
  const graph::Graph graph = graph::parse_graph(kGraph, "tiny").or_throw<ConfigError>();
  try {
    static_cast<void>(engine->compile(graph, {}));
    FAIL() << "conv2d has a CUDA kernel: make this test name an op that has none";
  } catch (const DeviceError& error) {
    expect_text(error.what(), "first: expected a CUDA kernel for conv2d");
  }
}

}  // namespace
}  // namespace roentgen::engine
