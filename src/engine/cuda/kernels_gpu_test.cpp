// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the kernels on the first CUDA device with their formulas in double, and with the emulator's bits.
#include <gtest/gtest.h>

#include "engine/cuda/kernel_bits_testing.h"
#include "engine/cuda/kernel_checks_testing.h"
#include "runtime/cuda/gpu_testing.h"

namespace roentgen::engine::cuda {
namespace {

constexpr std::uint32_t kSeed = 11;
constexpr DType kTypes[] = {DType::Bf16, DType::F16, DType::F32};

using KernelsGpu = runtime::GpuTest;

void expect_within_bounds(const Worst& worst) { EXPECT_LE(worst.share, 1.0) << worst.where; }

TEST_F(KernelsGpu, norm_matches_the_formula) {
  for (const DType type : kTypes) {
    for (NormShape shape : {NormShape{.rows = 1, .channels = 8}, NormShape{.rows = 3136, .channels = 96},
                            NormShape{.rows = 5000, .channels = 64}, NormShape{.rows = 98, .channels = 2048}}) {
      shape.type = type;
      expect_within_bounds(check_norm_forward(*device_, shape, kSeed));
      expect_within_bounds(check_norm_backward(*device_, shape, kSeed));
    }
  }
}

TEST_F(KernelsGpu, norm_of_segments_matches_the_formula) {
  for (const DType type : kTypes) {
    for (const std::vector<int>& channels :
         {std::vector<int>{8}, std::vector<int>{256, 32, 32, 32}, std::vector<int>(70, 8)}) {
      expect_within_bounds(check_norm_segments(*device_, {.type = type, .rows = 3136}, channels, kSeed));
    }
  }
}

TEST_F(KernelsGpu, norm_pool_matches_the_formula) {
  for (const DType type : kTypes) {
    expect_within_bounds(
        check_norm_pool(*device_, {.type = type, .images = 3, .height = 56, .width = 55, .channels = 64}, kSeed));
  }
}

TEST_F(KernelsGpu, updates_match_the_formula) {
  const std::int64_t counts[] = {1, 61, kPartElements, 100003, 5};
  expect_within_bounds(check_updates(*device_, counts, kSeed));
}

TEST_F(KernelsGpu, gradient_of_relu_and_bias_matches_the_formula) {
  for (const DType type : kTypes) {
    for (NormShape shape : {NormShape{.rows = 1, .channels = 8}, NormShape{.rows = 5000, .channels = 64},
                            NormShape{.rows = 98, .channels = 512}}) {
      shape.type = type;
      expect_within_bounds(check_relu_bias(*device_, shape, kSeed));
    }
  }
}

TEST_F(KernelsGpu, every_kernel_matches_its_formula) {
  for (const KernelCheck& each : kKernelChecks) {
    SCOPED_TRACE(each.name);
    expect_within_bounds(each.check(*device_));
  }
}

TEST_F(KernelsGpu, bits_are_the_emulators) { EXPECT_EQ(kernel_bits(*device_), golden_bits()); }

}  // namespace
}  // namespace roentgen::engine::cuda
