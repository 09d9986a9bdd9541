// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"

namespace roentgen::runtime {
namespace {

TEST(Memory, reads_the_kernels_estimate) {
  EXPECT_EQ(parse_available_memory("MemTotal:  24684084 kB\nMemFree: 1 kB\nMemAvailable:   2048 kB\n"), 2048U * 1024U);
  EXPECT_EQ(parse_available_memory("MemTotal:  24684084 kB\n"), 0U);
  EXPECT_EQ(parse_available_memory("MemAvailable:   \n"), 0U);
  EXPECT_EQ(parse_available_memory("MemAvailable:   many kB"), 0U);
}

TEST(Memory, refuses_what_the_machine_has_not) {
  if (available_memory_bytes() == 0) GTEST_SKIP() << "SKIPPED: this system has no /proc/meminfo";
  require_memory("engine.cpu", 1, "a smaller batch");
  try {
    require_memory("engine.cpu", std::numeric_limits<std::size_t>::max() / 2, "a smaller batch");
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(
        error.what(),
        testing::MatchesRegex("\\[engine.cpu\\] memory: expected at most [0-9.]+ GiB, what the machine has left, got "
                              "[0-9.]+ GiB; try a smaller batch"));
  }
}

}  // namespace
}  // namespace roentgen::runtime
