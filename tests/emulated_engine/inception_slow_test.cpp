// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares a step of Inception-v3 and Inception-v4 on the emulated CUDA engine with the reference in float64, at 75 px,
// the smallest images that the networks take.
#include <gtest/gtest.h>

#include <regex>

#include "engine/conformance/conformance_testing.h"
#include "graph/text.h"
#include "tests/emulated_engine/steps_testing.h"

namespace roentgen::emulated {
namespace {

class EmulatedInception : public testing::TestWithParam<std::string> {};

TEST_P(EmulatedInception, step_agrees_with_the_reference) {
  // At 75 px the last layers have a single pixel, so that only a batch gives their norms several values.
  constexpr std::int64_t kBatch = 8, kLabels = 3;
  engine::conformance::Case tested = with_targets(
      GetParam(),
      models::build_model({.name = GetParam(), .labels = kLabels, .channels = 1, .image_px = 75, .batch = kBatch}),
      kBatch, kLabels);
  // The reference drops nothing.
  const std::regex dropout(R"(dropout\(([^,)]+)[^)]*\))");
  const std::string text = std::regex_replace(graph::print_graph(tested.graph), dropout, "dropout($1, p=0)");
  tested.graph = graph::parse_graph(text, tested.name).or_throw();
  EmulatedEngine engine;
  const auto report =
      engine::conformance::run_case(engine, tested, {.compile = {.dtype = DType::F32}, .gradient_floor = 0.05});
  EXPECT_TRUE(report.passed()) << report.failures();
}
INSTANTIATE_TEST_SUITE_P(Models, EmulatedInception, testing::Values("inception_v3", "inception_v4"));

}  // namespace
}  // namespace roentgen::emulated
