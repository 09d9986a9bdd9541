// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Environment that ctest passes to tests: roentgen_test_environment() of cmake/roentgen_room.cmake.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace roentgen {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Detects if only the first of several variables reaches the test. Threads, seeds and caches would then depend on the
// user's environment.
TEST(TestEnvironment, holds_all_of_its_variables) {
  if (variable("ROENTGEN_SOURCE_DIR").empty()) {
    GTEST_SKIP() << "SKIPPED: run by hand, without ROENTGEN_SOURCE_DIR; ctest sets the environment of tests";
  }
  EXPECT_EQ(variable("OMP_NUM_THREADS"), "1");
  EXPECT_EQ(variable("RC_PARAMS").rfind("seed=", 0), 0U) << variable("RC_PARAMS");
  const std::filesystem::path cache = variable("XDG_CACHE_HOME");
  EXPECT_TRUE(cache.is_absolute()) << cache;
  EXPECT_EQ(cache.filename(), "test-cache");
}

}  // namespace
}  // namespace roentgen
