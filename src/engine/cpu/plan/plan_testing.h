// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Helpers for tests of plans, and for comparing steps that may differ in their last bits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/cpu/plan/executable.h"
#include "engine/cpu/plan/step_bits_testing.h"
#include "engine/cpu/simd/pointwise.h"
#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu {

/// Reason to skip a test with this value of CompileOptions::algorithms on this machine, or empty.
inline std::string lacking_for(const std::string& algorithms) {
  if (algorithms.starts_with("split") && !simd::bf16_unit()) {
    return "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  }
  return algorithms == "pointwise" && !simd::has_avx512() ? "SKIPPED: this machine has no AVX-512" : "";
}

/// Number of entries whose implementation contains `words`.
inline std::int64_t entries_that(const Plan& plan, const std::string& words) {
  return std::ranges::count_if(plan.entries,
                               [&](const PlanEntry& e) { return e.implementation.find(words) != std::string::npos; });
}

/// Number of plan entries with this kind of kernel.
inline std::int64_t entries_of(const Plan& plan, const std::string& kind) {
  return std::ranges::count_if(plan.entries, [&](const PlanEntry& e) { return e.kind == kind; });
}

/// Number of data gradients that include a batch norm's backward.
inline std::int64_t entries_into_norm(const Plan& plan) {
  return std::ranges::count_if(plan.entries,
                               [](const PlanEntry& e) { return e.implementation.ends_with(" into norm"); });
}

/// True if the plan has a tensor of this name.
inline bool stores(const Plan& plan, const std::string& name) {
  return std::ranges::any_of(plan.tensors, [&](const PlanTensor& tensor) { return tensor.name == name; });
}

/// Expects the private memory of each of `threads` threads after all planned memory, at the same offset in every entry.
inline void expect_threads_memory_apart(const Plan& plan, int threads) {
  const auto stride = plan.replica_stride_bytes;
  EXPECT_EQ(stride % 64, 0U);
  // Wide Winograd layers share scratch within sub-teams of two or more threads, so they have no per-thread scratch.
  const std::int64_t by_ours = entries_that(plan, "pointwise") + (threads == 1 ? entries_that(plan, "winograd") : 0);
  EXPECT_TRUE(stride > 0 || by_ours == 0);
  const std::size_t scratch = static_cast<std::size_t>(threads) * stride, told = plan.memory.workspace;
  EXPECT_GE(told, scratch);
  EXPECT_LT(told, scratch + (stride > 0 ? std::size_t{2} << 20 : 1));
  for (const PlanTensor& own : plan.tensors) {
    if (own.storage != Storage::Workspace) continue;
    EXPECT_LE(own.bytes, stride);
    if (stride == 0) continue;
    EXPECT_EQ(own.offset % 64, 0U);
    EXPECT_LE(own.offset + static_cast<std::size_t>(threads) * stride, plan.memory.activations);
    for (const PlanTensor& other : plan.tensors) {
      const bool is_apart =
          other.storage == Storage::Workspace ? other.offset == own.offset : other.offset + other.bytes <= own.offset;
      const bool is_in_arena = (other.storage == Storage::Planned && other.first >= 0) || other.storage == own.storage;
      ASSERT_TRUE(is_apart || !is_in_arena) << other.name;
    }
  }
}

/// Expects that tensors of the arena do not overlap if they are alive at the same time.
inline void expect_no_overlap(const Plan& plan, int threads) {
  const auto& tensors = plan.tensors;
  expect_threads_memory_apart(plan, threads);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].storage != Storage::Planned || tensors[i].first < 0) continue;
    EXPECT_LE(tensors[i].offset + tensors[i].bytes, plan.memory.activations);
    for (std::size_t k = i + 1; k < tensors.size(); ++k) {
      if (tensors[k].storage != Storage::Planned || tensors[k].first < 0) continue;
      const bool is_apart = tensors[i].offset + tensors[i].bytes <= tensors[k].offset ||
                            tensors[k].offset + tensors[k].bytes <= tensors[i].offset;
      // Tensors may share memory in place: the first one ends in the entry in which the second begins.
      const bool are_disjoint_in_time = tensors[i].last <= tensors[k].first || tensors[k].last <= tensors[i].first;
      ASSERT_TRUE(is_apart || are_disjoint_in_time) << tensors[i].name << " and " << tensors[k].name;
    }
  }
}

/// Expects equal gradients and running statistics, apart from the order of sums. One step may compute a convolution's
/// gradient by Direct, the other step by three split products, each off by 4e-6 in the mean square. In bf16, a value
/// may then round differently.
inline void expect_nearly_the_same_step(Executable& one, Executable& two, bool is_bf16) {
  const auto left = bits_of_one_step(one);
  const auto right = bits_of_one_step(two);
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    double error = 0.0, size = 0.0;
    for (std::size_t k = 0; k < left[i].size(); ++k) {
      error += std::pow(static_cast<double>(left[i][k]) - right[i][k], 2.0);
      size += std::pow(static_cast<double>(right[i][k]), 2.0);
    }
    EXPECT_LE(std::sqrt(error), (is_bf16 ? 4e-3 : 2e-5) * std::sqrt(size) + 1e-7)
        << one.graph().parameter(static_cast<std::int32_t>(i)).name;
  }
}

}  // namespace roentgen::engine::cpu
