// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests how long compute threads spin, by the settings that libgomp prints when it is loaded (OMP_DISPLAY_ENV).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

using testing::HasSubstr;
using testing::Not;

// Output of libgomp with these variables set, or unset after -u.
Ended run_with(const std::vector<std::string>& variables) {
  const Workplace place;
  std::vector<std::string> starter{"/usr/bin/env", "OMP_DISPLAY_ENV=verbose"};
  starter.insert(starter.begin() + 1, variables.begin(), variables.end());
  return Process({"bench", "--list"}, place.root(), starter).wait();
}

constexpr const char* kBounded = "GOMP_SPINCOUNT = '1000'";

TEST(BoundedSpin, is_the_default) {
  const Ended ended = run_with({"-u", "OMP_WAIT_POLICY", "-u", "GOMP_SPINCOUNT"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, HasSubstr("pipeline"));
  EXPECT_THAT(ended.err, HasSubstr(kBounded));
}

TEST(BoundedSpin, leaves_what_the_user_set) {
  const Ended counted = run_with({"-u", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT=77"});
  EXPECT_THAT(counted.err, HasSubstr("GOMP_SPINCOUNT = '77'"));
  EXPECT_THAT(counted.err, Not(HasSubstr(kBounded)));
  const Ended passive = run_with({"-u", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY=passive"});
  EXPECT_EQ(passive.code, 0);
  EXPECT_THAT(passive.err, Not(HasSubstr(kBounded)));
}

}  // namespace
}  // namespace roentgen::e2e
