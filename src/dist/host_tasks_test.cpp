// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/host_tasks.h"

#include <gtest/gtest.h>

namespace roentgen::dist {
namespace {

TEST(HostTasks, count_the_tasks_of_each_host) {
  constexpr std::int64_t kExpected[] = {2, 2, 2, 1, 16};
  for (std::int64_t host = 0; host < 5; ++host) {
    EXPECT_EQ(tasks_on_host("2(x3),1,16", host), kExpected[host]) << host;
  }
  EXPECT_EQ(tasks_on_host("4", 0), 4);
}

TEST(HostTasks, are_unknown_for_other_hosts_and_texts) {
  EXPECT_EQ(tasks_on_host("2(x3),1", 4), std::nullopt);
  EXPECT_EQ(tasks_on_host("2(x3),1", -1), std::nullopt);
  for (const char* const bad : {"", "2(x3", "2(x)", "(x3)", "0", "2(x0)", "-1", "2(y3)", "1,", "2x3", "2(x3)1"}) {
    EXPECT_EQ(tasks_on_host(bad, 0), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace roentgen::dist
