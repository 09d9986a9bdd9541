// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Which algorithms convolutions of whole networks get, of values in bf16 above all.
#include "engine/cpu/conv2d_algorithm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ranges>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/cpu/executable.h"
#include "engine/cpu/plan_testing.h"
#include "engine/cpu/simd/pointwise.h"
#include "engine/cpu/simd/tiles.h"
#include "engine/cpu/timing_store.h"
#include "graph/loss.h"
#include "models/model.h"

namespace roentgen::engine::cpu {
namespace {

graph::Graph resnet18() {
  return graph::with_loss(
      models::build_model({.name = "resnet18", .labels = 3, .channels = 1, .image_px = 64, .batch = 2}), {});
}

// Of all numbers taken together, in the L2 norm.
double relative_distance(const std::vector<std::vector<float>>& left, const std::vector<std::vector<float>>& right) {
  double difference = 0.0, norm = 0.0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    for (std::size_t k = 0; k < left[i].size(); ++k) {
      const auto expected = static_cast<double>(right[i][k]);
      difference += std::pow(static_cast<double>(left[i][k]) - expected, 2);
      norm += expected * expected;
    }
  }
  return std::sqrt(difference / norm);
}

// Elsewhere others are faster, and the bits would not be those of tiles: a run that goes on there has them chosen anew.
TEST(ConvAlgorithms, stored_split_products_are_for_tiles) {
  if (!simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  const auto three = make_executable(resnet18(), {.algorithms = "split2"});
  const CompileOptions stored{.algorithms = "auto", .choices = three->plan().choices};
  if (simd::has_tiles()) {
    EXPECT_EQ(make_executable(resnet18(), stored)->plan().hash(), three->plan().hash());
  } else {
    EXPECT_THROW(static_cast<void>(make_executable(resnet18(), stored)), ConfigError);
  }
}

TEST(ConvAlgorithms, winograd_is_timed_against_products_of_bf16_values_where_there_are_no_tiles) {
  const bool is_timed = simd::bf16_unit() == simd::TileUnit::Avx512;
  const auto made = make_executable(resnet18(), {.algorithms = "auto", .dtype = "bf16"});
  std::int64_t timed = 0;
  for (const auto& [key, timings] : made->plan().timings) {
    if (!timings.contains("bf16")) continue;
    ++timed;
    EXPECT_EQ(timings.size(), 2U) << key;
    EXPECT_TRUE(timings.contains("winograd_bf16")) << key;
    const std::string& chosen = made->plan().choices.at(key);
    EXPECT_EQ(chosen == "winograd_bf16", timings.at("winograd_bf16") < 0.95 * timings.at("bf16")) << key;
  }
  // 16 of ResNet-18's convolutions are 3x3, three of them with a stride, each with three passes.
  EXPECT_EQ(timed, is_timed ? 3 * 16 : 0);
  const auto direct = make_executable(resnet18(), {.algorithms = "direct", .dtype = "bf16"});
  EXPECT_EQ(std::ranges::count(direct->plan().choices | std::views::values, "winograd_bf16"), 0);
}

// Of ResNet-50's 1x1 convolutions those without a stride; beside tiles nobody asks.
TEST(ConvAlgorithms, pointwise_products_are_timed_where_there_are_no_tiles_and_their_plan_is_followed) {
  const auto resnet50 = graph::with_loss(
      models::build_model({.name = "resnet50", .labels = 3, .channels = 1, .image_px = 64, .batch = 2}), {});
  const auto made = make_executable(resnet50, {.algorithms = "auto"});
  const auto timed = std::ranges::count_if(made->plan().timings | std::views::values,
                                           [](const Timings& timings) { return timings.contains("pointwise"); });
  EXPECT_EQ(timed, simd::has_avx512() && !simd::has_tiles() ? 3 * 33 : 0);
  for (const auto& [key, timings] : made->plan().timings) {
    if (!timings.contains("pointwise")) continue;
    EXPECT_EQ(made->plan().choices.at(key) == "pointwise", timings.at("pointwise") < 1.10 * timings.at("direct"))
        << key;
  }
  if (!simd::has_avx512()) GTEST_SKIP() << "SKIPPED: this machine has no AVX-512";
  const auto all = make_executable(resnet50, {.algorithms = "pointwise"});
  EXPECT_EQ(std::ranges::count(all->plan().choices | std::views::values, "pointwise"), 3 * 33);
  const auto again = make_executable(resnet50, {.algorithms = "direct", .choices = all->plan().choices});
  EXPECT_EQ(again->plan().hash(), all->plan().hash());
}

// Of Inception-v3's: 12 of 3x3 and 4 with a stride, 3 of 5x5, 13 each of 1x7 and 7x1, 4 each of 1x3 and 3x1. Not those
// of 1x1, nor the first, which has no blocks of channels.
TEST(ConvAlgorithms, winograds_windows_are_those_of_inception_too) {
  const auto inception = graph::with_loss(
      models::build_model(
          {.name = "inception_v3", .labels = 3, .channels = 1, .image_px = 96, .batch = 1, .auxiliary = false}),
      {});
  const auto made = make_executable(inception, {.algorithms = "winograd"});
  EXPECT_EQ(std::ranges::count(made->plan().choices | std::views::values, "winograd"), 3 * 53);
  const Plan& plan = made->plan();
  EXPECT_EQ(entries_that(plan, "winograd_4x3:") + entries_that(plan, "winograd_4x3.3:"), 3 * 12);
  EXPECT_EQ(entries_that(plan, "winograd_4x3_strided"), 3 * 4);
  EXPECT_EQ(entries_that(plan, "winograd_4x5:") + entries_that(plan, "winograd_4x5.3:"), 3 * 3);
  EXPECT_EQ(entries_that(plan, "winograd_4x7_across"), 3 * 13);
  EXPECT_EQ(entries_that(plan, "winograd_4x7_down"), 3 * 13);
  EXPECT_EQ(entries_that(plan, "winograd_4x3_across"), 3 * 4);
  EXPECT_EQ(entries_that(plan, "winograd_4x3_down"), 3 * 4);
  // Rounding turns a few ReLUs, which is most of the distance: 1.9e-2 of ResNet-50's gradients at 224 px.
  const auto direct = make_executable(inception, {.algorithms = "direct"});
  const auto by_winograd = bits_of_one_step(*made), by_direct = bits_of_one_step(*direct);
  const double distance = relative_distance(by_winograd, by_direct);
  EXPECT_GT(distance, 0.0);
  EXPECT_LT(distance, 3e-2);
}

TEST(ConvAlgorithms, a_plan_of_winograd_of_bf16_values_is_followed) {
  const auto first = make_executable(resnet18(), {.algorithms = "winograd", .dtype = "bf16"});
  EXPECT_EQ(std::ranges::count(first->plan().choices | std::views::values, "winograd_bf16"), 3 * 16);
  const auto again = make_executable(resnet18(), {.choices = first->plan().choices});
  EXPECT_EQ(again->plan().hash(), first->plan().hash());
  for (const char* algorithms : {"bf16", "winograd_bf16"}) {
    EXPECT_THROW(static_cast<void>(make_executable(resnet18(), {.algorithms = algorithms})), ConfigError);
  }
}

// The type is in the key of a measurement: the two would put each other out of the cache.
TEST(ConvAlgorithms, timings_of_f32_and_bf16_values_are_kept_beside_each_other) {
  const auto timings_in = [](const char* dtype) {
    const CompileOptions options{.algorithms = "auto", .dtype = dtype};
    return make_executable(resnet18(), options)->plan().timings;
  };
  const auto f32 = timings_in("f32");
  const auto bf16 = timings_in("bf16");
  EXPECT_EQ(timings_in("f32"), f32);
  EXPECT_EQ(timings_in("bf16"), bf16);
}

}  // namespace
}  // namespace roentgen::engine::cpu
