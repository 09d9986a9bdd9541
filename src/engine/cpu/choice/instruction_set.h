// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CPU instruction sets for which kernels are chosen differently.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace roentgen::engine::cpu {

/// Instruction sets in ascending order; each includes the previous ones. Avx512 adds blocks of 16 channels, Avx512Bf16
/// adds products of bf16 numbers, and Amx adds matrix tiles of bf16 numbers.
enum class InstructionSet : std::uint8_t { Avx2, Avx512, Avx512Bf16, Amx };
inline constexpr std::array kInstructionSets{InstructionSet::Avx2, InstructionSet::Avx512, InstructionSet::Avx512Bf16,
                                             InstructionSet::Amx};

/// Name of the set: "avx2" (also for machines with less), "avx512", "avx512_bf16" or "amx".
[[nodiscard]] std::string_view name_of(InstructionSet set);
/// Returns the set with this name. Throws ConfigError, which lists the known names.
[[nodiscard]] InstructionSet instruction_set(std::string_view name);
/// Instruction set of this machine, limited to what oneDNN may use (DNNL_MAX_CPU_ISA).
[[nodiscard]] InstructionSet this_instruction_set();

/// True if the set has instructions that multiply bf16 numbers.
[[nodiscard]] constexpr bool has_bf16_products(InstructionSet set) { return set >= InstructionSet::Avx512Bf16; }

}  // namespace roentgen::engine::cpu
