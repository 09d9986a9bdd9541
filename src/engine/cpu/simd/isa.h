// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Vector instructions that this machine has and that oneDNN may use.
#pragma once

#include <cstdint>
#include <string_view>

namespace roentgen::engine::cpu::simd {

/// Number of channels in a block of values: 16 with AVX-512, else 8. Depends on the instruction set that oneDNN may use
/// (DNNL_MAX_CPU_ISA). Our kernels process both block sizes with vectors of any width. Calls limit_targets() first.
[[nodiscard]] int vector_block();

/// Highway target that our kernels use: "AVX3", "AVX2", ... Calls limit_targets() first.
[[nodiscard]] std::string_view target_name();

/// Limits our kernels to the instruction set that oneDNN may use (DNNL_MAX_CPU_ISA, read at oneDNN's first call). So
/// one variable makes a machine compute like one with a smaller instruction set. The engine calls it before it chooses
/// layouts or computes anything; later calls do nothing. Thread-safe. Kernels that other threads run during the first
/// call may still use either target.
void limit_targets();

/// Highway targets (HWY_AVX3, ...) that need more than the oneDNN instruction set `isa`, given as bits of
/// dnnl::cpu_isa.
[[nodiscard]] std::int64_t targets_above(int isa);

}  // namespace roentgen::engine::cpu::simd
