// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Measurement of the peak, which takes seconds.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/case_list.h"

namespace roentgen::bench {
namespace {

TEST(Peak, is_measured_with_checked_answers) {
  const std::vector<NamedCase> cases = make_cases();
  Case& asked = find_case(cases, "peak");
  for (const Option& option : asked.options()) {
    if (option.name == "--device") *std::get<std::string*>(option.target) = "cpu";
    if (option.name == "--threads") *std::get<std::int64_t*>(option.target) = 1;
  }
  const Value result = asked.run({});
  // A core of any machine that runs this reaches 1 GFLOP/s and 0.1 GB/s, also beside other work.
  EXPECT_GT(result.at("gflop_per_s").as_double(), 1.0);
  EXPECT_GT(result.at("gb_per_s").as_double(), 0.1);
}

}  // namespace
}  // namespace roentgen::bench
