// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/simd/isa.h"

#include <hwy/targets.h>

#include <oneapi/dnnl/dnnl.hpp>

namespace roentgen::engine::cpu::simd {
namespace {
// oneDNN's instruction sets are bit sets. A set supports all instructions of `level` if it contains all bits of
// `level`.
bool reaches(int isa, dnnl::cpu_isa level) { return (isa & static_cast<int>(level)) == static_cast<int>(level); }

int library_isa() {
  static const int isa = static_cast<int>(dnnl::get_effective_cpu_isa());
  return isa;
}
}  // namespace

std::int64_t targets_above(int isa) {
  // In Highway's bit sets, a better x86 target has a lower bit.
  if (!reaches(isa, dnnl::cpu_isa::avx2)) return HWY_AVX2 | (HWY_AVX2 - 1);
  if (!reaches(isa, dnnl::cpu_isa::avx512_core)) return HWY_AVX2 - 1;
  return 0;
}

void limit_targets() {
  [[maybe_unused]] static const bool is_limited = [] {
    const std::int64_t above = targets_above(library_isa());
    if (above == 0) return false;
    hwy::DisableTargets(above);
    // Targets are chosen immediately. Highway 1.0's SupportedTargets() permits all targets until its caller has chosen
    // among the returned ones. So nothing else may call it in a process with limited targets.
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    return true;
  }();
}

int vector_block() {
  limit_targets();
  return reaches(library_isa(), dnnl::cpu_isa::avx512_core) ? 16 : 8;
}

}  // namespace roentgen::engine::cpu::simd
