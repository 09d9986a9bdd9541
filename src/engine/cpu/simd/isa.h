// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Capabilities of this machine's vector unit, as Highway and oneDNN dispatch them.
#pragma once

#include <cstdint>
#include <string_view>

namespace roentgen::engine::cpu::simd {

/// Channels in a block of values: 16 with AVX-512, else 8. Follows the instruction set oneDNN may use
/// (DNNL_MAX_CPU_ISA); our kernels take blocks of either size with the vectors they have. Limits targets first.
[[nodiscard]] int vector_block();

/// The target our kernels dispatch to: "AVX3", "AVX2", ... Limits targets first.
[[nodiscard]] std::string_view target_name();

/// Limits our kernels to the instruction set that oneDNN may use (DNNL_MAX_CPU_ISA, read at oneDNN's first call). So
/// one variable makes a machine compute like one with a smaller set. The engine calls it before it lays out or computes
/// anything; later calls do nothing. Thread-safe, but kernels that other threads run during the first call may still
/// use either target.
void limit_targets();

/// Highway's targets (HWY_AVX3, ...) that an instruction set of oneDNN, the bits of a dnnl::cpu_isa, does not reach.
[[nodiscard]] std::int64_t targets_above(int isa);

}  // namespace roentgen::engine::cpu::simd
