// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What the vector unit of this machine offers, as Highway and oneDNN dispatch it.
#pragma once

#include <string_view>

namespace roentgen::engine::cpu::simd {

/// Channels in a block of values: 16 with AVX-512, else 8. Follows the instruction set oneDNN may use
/// (DNNL_MAX_CPU_ISA); our kernels take blocks of either size with the vectors they have.
[[nodiscard]] int vector_block();

/// The target our kernels dispatch to: "AVX3", "AVX2", ...
[[nodiscard]] std::string_view target_name();

}  // namespace roentgen::engine::cpu::simd
