// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/bench_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/error.h"

namespace roentgen::cli {
namespace {

TEST(BenchCases, an_unknown_case_is_refused_with_all_there_are) {
  for (const std::string_view name : all_cases()) EXPECT_NO_THROW(check_case(name));
  try {
    check_case("bogus");
    FAIL();
  } catch (const ConfigError& error) {
    for (const std::string_view name : all_cases()) EXPECT_THAT(error.what(), testing::HasSubstr(std::string(name)));
    for (const char* name : {"pipeline", "data.decode_png"}) EXPECT_THAT(error.what(), testing::HasSubstr(name));
  }
}

TEST(BenchCases, are_listed_once_each) {
  const auto names = all_cases();
  EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()).size(), names.size());
}

}  // namespace
}  // namespace roentgen::cli
