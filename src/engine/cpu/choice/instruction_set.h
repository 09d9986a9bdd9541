// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Instruction sets that choices of kernels tell apart.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace roentgen::engine::cpu {

/// Instruction sets in ascending order; each includes the ones before it. They add AVX-512's blocks of 16 channels, its
/// products of bf16 numbers, and tiles of bf16 numbers.
enum class InstructionSet : std::uint8_t { Avx2, Avx512, Avx512Bf16, Amx };
inline constexpr std::array kInstructionSets{InstructionSet::Avx2, InstructionSet::Avx512, InstructionSet::Avx512Bf16,
                                             InstructionSet::Amx};

/// "avx2" (also of machines with less), "avx512", "avx512_bf16" or "amx".
[[nodiscard]] std::string_view name_of(InstructionSet set);
/// The set of that name; ConfigError naming the known ones.
[[nodiscard]] InstructionSet instruction_set(std::string_view name);
/// Instruction set of this machine, limited to what oneDNN may use (DNNL_MAX_CPU_ISA).
[[nodiscard]] InstructionSet this_instruction_set();

/// Whether the set multiplies numbers stored in bf16.
[[nodiscard]] constexpr bool has_bf16_products(InstructionSet set) { return set >= InstructionSet::Avx512Bf16; }

}  // namespace roentgen::engine::cpu
