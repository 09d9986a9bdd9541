// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the table of links. tests/CMakeLists.txt runs the case `links` on several ranks; dist/links_test.cpp tests
// which links count as slow.
#include "bench/cases/links.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace roentgen::bench {
namespace {

TEST(Links, of_one_rank_are_none) {
  const auto group = dist::make_communicator("single");
  const Value result = run_links(*group, {.message_bytes = 8, .rounds = 1});
  EXPECT_EQ(result.at("kind").as_string(), "measured");
  EXPECT_TRUE(result.at("links").as_array().empty());
  EXPECT_EQ(result.at("slow").as_integer(), 0);
  EXPECT_EQ(result.find("within_host"), nullptr);
}

TEST(Links, refuses_options_out_of_range) {
  const auto group = dist::make_communicator("single");
  EXPECT_THROW(static_cast<void>(run_links(*group, {.message_bytes = 0})), ConfigError);
  EXPECT_THROW(static_cast<void>(run_links(*group, {.rounds = 0})), ConfigError);
  EXPECT_THROW(static_cast<void>(run_links(*group, {.slow_factor = 1.0})), ConfigError);
}

}  // namespace
}  // namespace roentgen::bench
