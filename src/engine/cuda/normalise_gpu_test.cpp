// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the kernel on the first CUDA device with its formula, and tests a batch from slot to input.
#include "engine/cuda/normalise.h"

#include <gtest/gtest.h>

#include "engine/cuda/input_slots_testing.h"
#include "engine/cuda/normalise_testing.h"
#include "runtime/cuda/gpu_testing.h"

namespace roentgen::engine::cuda {
namespace {

constexpr std::uint32_t kSeed = 11;

using NormaliseGpu = runtime::GpuTest;

TEST_F(NormaliseGpu, formula_holds_for_all_types_and_channels) {
  for (const Normalise& work : normalise_cases()) {
    const Worst worst = check_normalise_values(*device_, work, kSeed);
    EXPECT_LE(worst.share, 1.0) << worst.where;
  }
}

TEST_F(NormaliseGpu, every_batch_arrives_whole) { expect_every_batch_arrives_whole(*device_); }

}  // namespace
}  // namespace roentgen::engine::cuda
