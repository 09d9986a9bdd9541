// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <gtest/gtest.h>

#include "core/error.h"
#include "engine/engine.h"
#include "engine/engine_list.h"
#include "runtime/stream.h"

namespace roentgen::engine {
namespace {

// Expects one line that begins with "[engine.cuda] " or "[runtime.cuda] " and contains `part`.
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

}  // namespace
}  // namespace roentgen::engine
