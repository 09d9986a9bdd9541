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

TEST(ShareOfPeak, of_a_run_counts_the_limits_of_all_ranks) {
  constexpr Peak kPeak{.gflops = 100.0, .gb_per_s = 20.0};
  Value one = Value::Table{{"images_per_s", 10.0}, {"gflop_per_image", 5.0}};
  add_share_of_peak(one, kPeak);
  EXPECT_DOUBLE_EQ(one.find_path("peak.share_of_flops")->as_double(), 0.5);
  Value several = Value::Table{{"gflop_per_image", 5.0}, {"hosts", 1}};
  several.set("points",
              Value(Value::Array{Value::Table{{"images_per_s", 10.0}, {"ranks", 1}, {"oversubscribed", false}},
                                 Value::Table{{"images_per_s", 10.0}, {"ranks", 2}, {"oversubscribed", false}},
                                 Value::Table{{"images_per_s", 10.0}, {"ranks", 4}, {"oversubscribed", true}},
                                 Value::Table{{"images_per_s", 10.0}, {"ranks", 2}, {"hosts", 2}}}));
  add_share_of_peak(several, kPeak);
  const Value::Array& rows = several.at("points").as_array();
  EXPECT_DOUBLE_EQ(rows[0].at("share_of_flops").as_double(), 0.5);
  EXPECT_DOUBLE_EQ(rows[1].at("share_of_flops").as_double(), 0.25);
  EXPECT_TRUE(rows[2].at("share_of_flops").is_null()) << "ranks share cores";
  EXPECT_TRUE(rows[3].at("share_of_flops").is_null()) << "one host was measured";
}

}  // namespace
}  // namespace roentgen::bench
