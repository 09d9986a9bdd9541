// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/simd/isa.h"

#include <oneapi/dnnl/dnnl.hpp>

namespace roentgen::engine::cpu::simd {

int vector_block() {
  static const int block = [] {
    const auto isa = static_cast<int>(dnnl::get_effective_cpu_isa());
    return (isa & static_cast<int>(dnnl::cpu_isa::avx512_core)) == static_cast<int>(dnnl::cpu_isa::avx512_core) ? 16
                                                                                                                : 8;
  }();
  return block;
}

}  // namespace roentgen::engine::cpu::simd
