// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Replaces engine/cpu/simd/tiles_granted.cpp. The code around emulated tiles needs AVX-512's bf16 instructions.
#include "engine/cpu/simd/tiles_amx.h"
#include "engine/cpu/simd/tiles_avx512.h"

namespace roentgen::engine::cpu::simd::amx {

bool is_granted() { return avx512::is_there(); }
std::string_view instructions() { return "AMX, emulated"; }

}  // namespace roentgen::engine::cpu::simd::amx
