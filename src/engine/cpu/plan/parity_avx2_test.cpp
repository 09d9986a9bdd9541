// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the CPU engine on a machine without AVX-512 (DNNL_MAX_CPU_ISA=AVX2) with the double reference, within the
// usual bounds. It tests every op, and networks of residual, bottleneck and dense blocks, forward and backward.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>

#include "engine/conformance/conformance_testing.h"
#include "engine/cpu/plan/algorithms_testing.h"
#include "engine/cpu/plan/product_testing.h"
#include "engine/cpu/simd/isa.h"
#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::conformance {
namespace {

// True if the limit to AVX2 is active. Without it, these tests would pass without testing anything.
bool is_avx2() { return cpu::simd::vector_block() == 8 && cpu::simd::target_name() == "AVX2"; }

class ConformanceAvx2 : public Conformance {
 protected:
  void SetUp() override {
    ASSERT_TRUE(is_avx2()) << cpu::simd::target_name() << "; by hand, run it with DNNL_MAX_CPU_ISA=AVX2";
  }
};

TEST_P(ConformanceAvx2, training) { expect_passes({.form = Form::Training, .threads = 2, .bucket_bytes = 2048}); }

TEST_P(ConformanceAvx2, training_unfused) { expect_passes({.form = Form::Training, .threads = 1, .fuse = "off"}); }

TEST_P(ConformanceAvx2, training_recomputing_all) {
  expect_passes({.form = Form::Training, .threads = 2, .recompute = "all"});
}

TEST_P(ConformanceAvx2, inference) { expect_passes({.form = Form::Inference, .threads = 1}); }

class ConformanceAvx2Bf16 : public ConformanceAvx2 {};

TEST_P(ConformanceAvx2Bf16, training) { expect_passes({.form = Form::Training, .threads = 2}); }

// Tests of a change run every case on the machine's own instruction set (conformance_test.cpp), but only every third
// case here.
cpu::SharedCases<Case> every_third_case() {
  cpu::SharedCases<Case> shared;
  std::size_t i = 0;
  for (const Case& tested : all_cases()) (i++ % 3 == 0 ? shared.one_unit_each : shared.rest).push_back(tested);
  return shared;
}

auto trials_of(const std::vector<Case>& cases, const Precision& precision) {
  return testing::ValuesIn(trials([] { return make_engine("cpu"); }, {precision}, cases));
}

const auto kShared = every_third_case();
INSTANTIATE_TEST_SUITE_P(Cpu, ConformanceAvx2, trials_of(kShared.one_unit_each, kF32), test_name);
INSTANTIATE_TEST_SUITE_P(Product, ConformanceAvx2, trials_of(kShared.rest, kF32), test_name);
INSTANTIATE_TEST_SUITE_P(Cpu, ConformanceAvx2Bf16, trials_of(kShared.one_unit_each, kBf16), test_name);
INSTANTIATE_TEST_SUITE_P(Product, ConformanceAvx2Bf16, trials_of(kShared.rest, kBf16), test_name);

// Uses the bound for AVX-512 (conformance_test.cpp), since the transforms are the same.
TEST(ConformanceWinogradAvx2, all_that_can_be_winograd_agrees_with_the_reference) {
  ASSERT_TRUE(is_avx2());
  expect_algorithm_passes("winograd", [](const Case&) { return 1.0; });
}

TEST(LimitAvx2, our_kernels_obey_what_onednn_is_limited_to) {
  const std::unique_ptr<Engine> engine = make_engine("cpu");
  EXPECT_EQ(cpu::simd::vector_block(), 8);
  EXPECT_EQ(cpu::simd::target_name(), "AVX2");
  EXPECT_FALSE(cpu::simd::has_tiles());
  EXPECT_FALSE(cpu::simd::bf16_unit());
  EXPECT_NE(engine->description().find("AVX2; own kernels AVX2"), std::string::npos) << engine->description();
}

// Checks that plans do not use AVX-512: no blocks of 16 channels, no such kernel of oneDNN or of ours.
TEST(LimitAvx2, plans_are_of_blocks_of_eight_channels) {
  const std::unique_ptr<Engine> engine = make_engine("cpu");
  for (const Case& tested : network_cases()) {
    for (const auto& [algorithms, dtype] :
         {std::pair{"winograd", "f32"}, std::pair{"winograd", "bf16"}, std::pair{"direct", "bf16"}}) {
      const Plan plan = engine->plan(
          tested.graph, {.threads = 1, .algorithms = parse_algorithms(algorithms), .dtype = parse_dtype(dtype)});
      std::int64_t blocked = 0;
      for (const PlanTensor& tensor : plan.tensors) {
        EXPECT_EQ(tensor.layout.find("16c"), std::string::npos) << tested.name << " " << tensor.name;
        blocked += tensor.layout.starts_with("nChw8c") ? 1 : 0;
      }
      EXPECT_GT(blocked, 0) << tested.name << " " << dtype;
      for (const PlanEntry& entry : plan.entries) {
        for (const char* word : {"avx512", "AVX512", "AVX3", "AMX"}) {
          EXPECT_EQ(entry.implementation.find(word), std::string::npos)
              << tested.name << " " << entry.name << " " << entry.implementation;
        }
      }
    }
  }
}

}  // namespace
}  // namespace roentgen::engine::conformance
