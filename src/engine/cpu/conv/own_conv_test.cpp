// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests which algorithms the convolutions of whole networks use, mainly for bf16 values.
#include "engine/cpu/conv/own_conv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ranges>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/cpu/plan/executable.h"
#include "engine/cpu/plan/plan_testing.h"
#include "engine/cpu/simd/pointwise.h"
#include "engine/cpu/simd/tiles.h"
#include "graph/loss.h"
#include "models/model.h"

namespace roentgen::engine::cpu {
namespace {

graph::Graph resnet18() {
  return graph::with_loss(
      models::build_model({.name = "resnet18", .labels = 3, .channels = 1, .image_px = 64, .batch = 2}), {});
}

// Relative distance of all numbers together, by the L2 norm.
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

TEST(ConvAlgorithms, heuristic_is_the_rule) {
  EXPECT_EQ(make_plan(resnet18(), {.algorithms = Algorithms::Heuristic}).hash(),
            make_plan(resnet18(), {.algorithms = Algorithms::Auto}).hash());
}

// On machines without tiles, split products are slower than other algorithms, and their results differ in bits. So a
// run that was started on tiles cannot continue on such a machine.
TEST(ConvAlgorithms, stored_split_products_are_for_tiles) {
  if (!simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  const auto three = make_executable(resnet18(), {.algorithms = Algorithms::Split2});
  const CompileOptions stored{.algorithms = Algorithms::Auto, .choices = three->plan().choices};
  if (simd::has_tiles()) {
    EXPECT_EQ(make_executable(resnet18(), stored)->plan().hash(), three->plan().hash());
  } else {
    EXPECT_THROW(static_cast<void>(make_executable(resnet18(), stored)), ConfigError);
  }
}

// Checks that pointwise products are used for ResNet-50's 1x1 convolutions without a stride.
TEST(ConvAlgorithms, pointwise_products_are_those_of_1x1_without_a_stride) {
  if (!simd::has_avx512()) GTEST_SKIP() << "SKIPPED: this machine has no AVX-512";
  const auto resnet50 = graph::with_loss(
      models::build_model({.name = "resnet50", .labels = 3, .channels = 1, .image_px = 64, .batch = 2}), {});
  const auto all = make_executable(resnet50, {.algorithms = Algorithms::Pointwise});
  EXPECT_EQ(std::ranges::count(all->plan().choices | std::views::values, "pointwise"), 3 * 33);
  const auto again = make_executable(resnet50, {.algorithms = Algorithms::Direct, .choices = all->plan().choices});
  EXPECT_EQ(again->plan().hash(), all->plan().hash());
}

// Counts Inception-v3's windows: 12 of 3x3, 3 of 5x5, 13 each of 1x7 and 7x1, 4 each of 1x3 and 3x1. Excluded are 1x1
// windows, and the first convolution, which has no blocks of channels.
TEST(ConvAlgorithms, winograds_windows_are_those_of_inception_too) {
  const auto inception = graph::with_loss(
      models::build_model(
          {.name = "inception_v3", .labels = 3, .channels = 1, .image_px = 96, .batch = 1, .auxiliary = false}),
      {});
  const auto made = make_executable(inception, {.algorithms = Algorithms::Winograd});
  EXPECT_EQ(std::ranges::count(made->plan().choices | std::views::values, "winograd"), 3 * 49);
  const Plan& plan = made->plan();
  EXPECT_EQ(entries_that(plan, "winograd_4x3:") + entries_that(plan, "winograd_4x3.3:"), 3 * 12);
  EXPECT_EQ(entries_that(plan, "winograd_4x5:") + entries_that(plan, "winograd_4x5.3:"), 3 * 3);
  EXPECT_EQ(entries_that(plan, "winograd_4x7_across"), 3 * 13);
  EXPECT_EQ(entries_that(plan, "winograd_4x7_down"), 3 * 13);
  EXPECT_EQ(entries_that(plan, "winograd_4x3_across"), 3 * 4);
  EXPECT_EQ(entries_that(plan, "winograd_4x3_down"), 3 * 4);
  // Rounding flips a few ReLUs, which causes most of the distance: 1.9e-2 of ResNet-50's gradients at 224 px.
  const auto direct = make_executable(inception, {.algorithms = Algorithms::Direct});
  const auto by_winograd = bits_of_one_step(*made), by_direct = bits_of_one_step(*direct);
  const double distance = relative_distance(by_winograd, by_direct);
  EXPECT_GT(distance, 0.0);
  EXPECT_LT(distance, 3e-2);
}

TEST(ConvAlgorithms, a_plan_of_winograd_of_bf16_values_is_followed) {
  const auto first = make_executable(resnet18(), {.algorithms = Algorithms::Winograd, .dtype = DType::Bf16});
  EXPECT_EQ(std::ranges::count(first->plan().choices | std::views::values, "winograd_bf16"), 3 * 13);
  const auto again = make_executable(resnet18(), {.choices = first->plan().choices});
  EXPECT_EQ(again->plan().hash(), first->plan().hash());
  for (const char* algorithms : {"bf16", "winograd_bf16"}) {
    EXPECT_THROW(static_cast<void>(make_executable(resnet18(), {.algorithms = parse_algorithms(algorithms)})),
                 ConfigError);
  }
}

}  // namespace
}  // namespace roentgen::engine::cpu
