// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests which Highway targets a limit of oneDNN's instruction set leaves to our kernels. For a limited process, see
// parity_avx2_test.
#include "engine/cpu/simd/isa.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <oneapi/dnnl/dnnl.hpp>

namespace roentgen::engine::cpu::simd {
namespace {

constexpr std::int64_t kAll = HWY_AVX3_DL | HWY_AVX3 | HWY_AVX2 | HWY_SCALAR;

std::int64_t left_by(dnnl::cpu_isa level) { return kAll & ~targets_above(static_cast<int>(level)); }

TEST(Isa, avx512_reaches_every_target) {
  for (const dnnl::cpu_isa level : {dnnl::cpu_isa::avx512_core, dnnl::cpu_isa::avx512_core_vnni,
                                    dnnl::cpu_isa::avx512_core_bf16, dnnl::cpu_isa::avx512_core_amx}) {
    EXPECT_EQ(left_by(level), kAll);
  }
}

TEST(Isa, avx2_leaves_no_target_of_avx512) {
  for (const dnnl::cpu_isa level : {dnnl::cpu_isa::avx2, dnnl::cpu_isa::avx2_vnni}) {
    EXPECT_EQ(left_by(level), HWY_AVX2 | HWY_SCALAR);
  }
}

TEST(Isa, less_than_avx2_leaves_the_baseline) {
  for (const dnnl::cpu_isa level : {dnnl::cpu_isa::sse41, dnnl::cpu_isa::avx}) EXPECT_EQ(left_by(level), HWY_SCALAR);
}

// Layouts and kernels use the same instruction set; tiles come with AVX-512 only.
TEST(Isa, blocks_follow_the_target) {
  const bool is_wide = targets_above(static_cast<int>(dnnl::get_effective_cpu_isa())) == 0;
  EXPECT_EQ(vector_block(), is_wide ? 16 : 8);
  EXPECT_EQ(target_name().starts_with("AVX3"), is_wide) << target_name();
}

}  // namespace
}  // namespace roentgen::engine::cpu::simd
