// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares training with moments summed by the convolution before a batch norm, and by the batch norm itself.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cpu/plan/executable.h"
#include "engine/cpu/plan/plan_testing.h"
#include "engine/cpu/plan/residual_blocks_testing.h"
#include "engine/cpu/plan/step_bits_testing.h"
#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu {
namespace {

// Simulates a group with a second rank that has the same images.
std::shared_ptr<NormGroup> group_of_two() {
  auto group = std::make_shared<NormGroup>();
  group->ranks = 2;
  group->sum = [](runtime::DeviceSpan<double> sums, const runtime::Event& ready, std::int64_t /*index*/) {
    ready.wait();
    for (double& sum : sums.host()) sum *= 2.0;
  };
  return group;
}

// If a batch norm is the only reader of a convolution on tiles, it needs no separate pass for its statistics.
TEST(NormMoments, are_added_up_by_the_convolution_before) {
  if (!simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  for (const char* dtype : {"f32", "bf16"}) {
    SCOPED_TRACE(dtype);
    const CompileOptions options{.slots = 1, .algorithms = Algorithms::Split2, .dtype = parse_dtype(dtype)};
    const auto alone = make_executable(residual_blocks(), options);
    EXPECT_EQ(entries_that(alone->plan(), " with moments"), 9) << "all but the stem, of three channels";
    std::map<std::string, std::string> choices = alone->plan().choices;
    for (auto& [key, choice] : choices) {
      if (key.ends_with("/forward")) choice = "direct";
    }
    if (std::string(dtype) == "f32") {
      const auto apart =
          make_executable(residual_blocks(), {.slots = 1, .algorithms = Algorithms::Split2, .choices = choices});
      EXPECT_EQ(entries_that(apart->plan(), " with moments"), 0);
      expect_nearly_the_same_step(*alone, *apart, false);
    }
    // Another rank with the same images does not change the means.
    CompileOptions of_two = options;
    of_two.norm_group = group_of_two();
    const auto over_ranks = make_executable(residual_blocks(), of_two);
    EXPECT_EQ(entries_that(over_ranks->plan(), " with moments"), 9);
    const auto here = bits_of_one_step(*alone), both = bits_of_one_step(*over_ranks);
    for (std::size_t i = 0; i < here.size(); ++i) {
      const std::string& name = alone->graph().parameter(static_cast<std::int32_t>(i)).name;
      if (!name.ends_with("running_mean")) continue;
      EXPECT_EQ(here[i], both[i]) << name;
    }
  }
}

}  // namespace
}  // namespace roentgen::engine::cpu
