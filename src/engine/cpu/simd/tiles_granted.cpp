// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Asks whether this process may use Intel AMX tiles. Separate from tiles_amx.cpp, because tests link an emulation
// instead of that file (tests/emulated_tiles).
#include "engine/cpu/simd/tiles_amx.h"

#if defined(__x86_64__) && defined(__linux__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <oneapi/dnnl/dnnl.hpp>

namespace roentgen::engine::cpu::simd::amx {

bool is_granted() {
  const auto amx = static_cast<int>(dnnl::cpu_isa::avx512_core_amx);
  if ((static_cast<int>(dnnl::get_effective_cpu_isa()) & amx) != amx) return false;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  constexpr unsigned kBf16 = 1U << 22U, kTile = 1U << 24U, kVectorBf16 = 1U << 5U;
  if ((edx & kBf16) == 0 || (edx & kTile) == 0) return false;
  // Linux lets a process use tile registers only after a request.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) == 0 || (eax & kVectorBf16) == 0) return false;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

std::string_view instructions() { return "AMX"; }

}  // namespace roentgen::engine::cpu::simd::amx

#else

namespace roentgen::engine::cpu::simd::amx {

bool is_granted() { return false; }
std::string_view instructions() { return "AMX"; }

}  // namespace roentgen::engine::cpu::simd::amx

#endif
