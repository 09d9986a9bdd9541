// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/peak.h"

#include <gtest/gtest.h>

#include <utility>

namespace roentgen::bench {
namespace {

Value result_with_profile() {
  Value rows = Value::array();
  rows.push_back(Value::Table{{"kind", "conv2d_forward"}, {"gflops", 50.0}, {"gb_per_s", 1.0}});
  rows.push_back(Value::Table{{"kind", "relu"}, {"gflops", Value()}, {"gb_per_s", 8.0}});
  rows.push_back(Value::Table{{"kind", "optimizer"}, {"gflops", Value()}, {"gb_per_s", Value()}});
  return Value::Table{{"profile", std::move(rows)}};
}

TEST(ShareOfPeak, is_the_larger_share_of_both_limits) {
  Value result = result_with_profile();
  add_share_of_peak(result, {.gflops = 100.0, .gb_per_s = 20.0}, 3e9, 0.1);
  const Value::Array& rows = result.at("profile").as_array();
  EXPECT_DOUBLE_EQ(rows[0].at("of_peak").as_double(), 0.5);
  EXPECT_DOUBLE_EQ(rows[1].at("of_peak").as_double(), 0.4);
  EXPECT_TRUE(rows[2].at("of_peak").is_null());
  EXPECT_DOUBLE_EQ(result.find_path("peak.share_of_flops")->as_double(), 0.3);
}

TEST(ShareOfPeak, of_an_unknown_peak_is_null) {
  Value result = result_with_profile();
  add_share_of_peak(result, {}, 3e9, 0.1);
  EXPECT_TRUE(result.find_path("peak.share_of_flops")->is_null());
  EXPECT_TRUE(result.at("profile").as_array()[0].at("of_peak").is_null());
}

}  // namespace
}  // namespace roentgen::bench
