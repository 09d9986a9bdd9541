// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Transposes a square of numbers in AVX-512 registers. For tiles_avx512.cpp and pointwise.cpp only.
#pragma once

#include <cstddef>

#include "engine/cpu/simd/intrinsics.h"

// Attribute of functions that use instructions beyond the compiler's baseline.
#define RG_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))

namespace roentgen::engine::cpu::simd::avx512 {

struct Square {
  __m512i rows[16];
  __m512i& operator[](std::size_t i) { return rows[i]; }
};

// Transposes 16 x 16 numbers of 32 bits, in four rounds that swap blocks of 1, 2, 4 and 8.
RG_AVX512 inline void turn(Square& m) {
  Square t;
  for (std::size_t i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(m[i], m[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(m[i], m[i + 1]);
  }
  for (std::size_t i = 0; i < 16; i += 4) {
    m[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    m[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    m[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    m[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (std::size_t i = 0; i < 16; i += 8) {
    for (std::size_t k = 0; k < 4; ++k) {
      t[i + k] = _mm512_shuffle_i32x4(m[i + k], m[i + k + 4], 0x88);
      t[i + k + 4] = _mm512_shuffle_i32x4(m[i + k], m[i + k + 4], 0xdd);
    }
  }
  for (std::size_t k = 0; k < 4; ++k) {
    m[k] = _mm512_shuffle_i32x4(t[k], t[k + 8], 0x88);
    m[k + 4] = _mm512_shuffle_i32x4(t[k + 4], t[k + 12], 0x88);
    m[k + 8] = _mm512_shuffle_i32x4(t[k], t[k + 8], 0xdd);
    m[k + 12] = _mm512_shuffle_i32x4(t[k + 4], t[k + 12], 0xdd);
  }
}

}  // namespace roentgen::engine::cpu::simd::avx512
