// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/transform/filter.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

namespace roentgen::data {
namespace {

Axis whole(std::int64_t source, std::int64_t outputs) {
  return {0.0, static_cast<double>(source) / static_cast<double>(outputs), outputs, source};
}

std::vector<float> used_weights(const Taps& taps, std::int64_t i) {
  const std::span<const float> used = taps.weights(i).first(static_cast<std::size_t>(taps.count(i)));
  return {used.begin(), used.end()};
}

TEST(Filter, takes_one_pixel_each_at_the_same_size) {
  for (const Filter filter : {Filter::Triangle, Filter::Area}) {
    Taps taps;
    taps.set(whole(9, 9), filter);
    for (std::int64_t i = 0; i < 9; ++i) {
      EXPECT_EQ(taps.first(i), i);
      EXPECT_EQ(used_weights(taps, i), std::vector<float>{1.0F});
    }
  }
}

TEST(Filter, area_of_a_whole_ratio_is_the_mean_of_a_block) {
  Taps taps;
  taps.set(whole(32, 4), Filter::Area);
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(taps.first(i), 8 * i);
    EXPECT_EQ(used_weights(taps, i), std::vector<float>(8, 0.125F));
  }
}

TEST(Filter, triangle_of_ratio_two_is_what_the_formula_says) {
  Taps taps;
  taps.set(whole(8, 4), Filter::Triangle);
  // At p = 3 and s = 2, pixels 1 to 4 have distances 1.5, 0.5, 0.5 and 1.5.
  EXPECT_EQ(taps.first(1), 1);
  EXPECT_EQ(used_weights(taps, 1), (std::vector<float>{0.125F, 0.375F, 0.375F, 0.125F}));
  // At p = 1 the first of the four pixels does not exist, so the others share its weight.
  EXPECT_EQ(taps.first(0), 0);
  EXPECT_EQ(used_weights(taps, 0), (std::vector<float>{3.0F / 7, 3.0F / 7, 1.0F / 7}));
}

TEST(Filter, gives_nothing_outside_the_source) {
  Taps taps;
  taps.set({.start = -3.0, .step = 1.0, .outputs = 10, .source = 4}, Filter::Triangle);
  for (std::int64_t i = 0; i < 10; ++i) EXPECT_EQ(taps.count(i), i >= 3 && i < 7 ? 1 : 0) << i;
  EXPECT_EQ(taps.begin(), 0);
  EXPECT_EQ(taps.end(), 4);
}

TEST(Filter, uses_nothing_where_all_is_outside) {
  Taps taps;
  taps.set({.start = 100.0, .step = 1.0, .outputs = 10, .source = 4}, Filter::Triangle);
  EXPECT_EQ(taps.begin(), taps.end());
}

TEST(Filter, mirrored_axis_gives_the_same_taps_in_reverse) {
  Taps plain;
  Taps mirrored;
  plain.set(whole(50, 12), Filter::Triangle);
  mirrored.set({.start = 50.0, .step = -50.0 / 12.0, .outputs = 12, .source = 50}, Filter::Triangle);
  for (std::int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(mirrored.first(i), plain.first(11 - i));
    EXPECT_EQ(mirrored.count(i), plain.count(11 - i));
  }
}

RC_GTEST_PROP(FilterProperty, weights_are_positive_within_the_source_and_sum_to_one, ()) {
  Axis axis;
  axis.source = *rc::gen::inRange<std::int64_t>(1, 3000);
  axis.outputs = *rc::gen::inRange<std::int64_t>(1, 40);
  axis.start = *rc::gen::inRange(-40000, 40000) / 16.0;
  axis.step = *rc::gen::inRange(-8000, 8000) / 64.0;
  const Filter filter = *rc::gen::element(Filter::Triangle, Filter::Area);
  Taps taps;
  taps.set(axis, filter);
  for (std::int64_t i = 0; i < axis.outputs; ++i) {
    const double place = axis.start + axis.step * (static_cast<double>(i) + 0.5);
    const bool is_inside = place >= 0.0 && place < static_cast<double>(axis.source);
    RC_ASSERT((taps.count(i) > 0) == is_inside);
    RC_ASSERT(taps.first(i) >= 0 && taps.first(i) + taps.count(i) <= axis.source);
    RC_ASSERT(taps.count(i) <= taps.stride() && taps.stride() % Taps::kPad == 0);
    if (!is_inside) continue;
    RC_ASSERT(taps.first(i) >= taps.begin() && taps.first(i) + taps.count(i) <= taps.end());
    double sum = 0.0;
    for (std::int64_t k = 0; k < taps.stride(); ++k) {
      const float weight = taps.weights(i)[static_cast<std::size_t>(k)];
      RC_ASSERT(weight >= 0.0F && (k < taps.count(i) || weight == 0.0F));
      sum += weight;
    }
    RC_ASSERT(std::abs(sum - 1.0) < 1e-6);
  }
}

}  // namespace
}  // namespace roentgen::data
