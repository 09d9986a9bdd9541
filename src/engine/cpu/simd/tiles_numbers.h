// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads the numbers that products split: in place, normalised if the source has a scale, and split into bf16 parts.
// Internal to tiles_avx512.cpp and pointwise.cpp, and for x86 only.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine/cpu/simd/tiles.h"
#include "engine/cpu/simd/tiles_turn.h"

namespace roentgen::engine::cpu::simd::avx512 {

// Adds half a unit, so that the upper half of the bits is the nearest bf16 number.
RG_AVX512 inline __m512 raised(__m512 value) {
  return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(value), _mm512_set1_epi32(0x8000)));
}
RG_AVX512 inline __m512 rounded(__m512 value) {
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000U));
  return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(raised(value)), upper));
}

// Parts of 16 numbers, one vector per plane. The upper half of each number is the bf16 part.
template <int kPlanes>
struct Parts {
  __m512 of[kPlanes];
};

template <int kPlanes>
RG_AVX512 inline Parts<kPlanes> split(__m512 value) {
  if constexpr (kPlanes == 1) {
    return {value};
  } else {
    const __m512 most = rounded(value);
    const __m512 rest = _mm512_sub_ps(value, most);
    if constexpr (kPlanes == 2) {
      return {most, raised(rest)};
    } else {
      const __m512 middle = rounded(rest);
      return {most, middle, _mm512_sub_ps(rest, middle)};
    }
  }
}

// Pairs of bf16 numbers: the upper half of each `low` becomes the lower half of the result, that of `high` the upper
// half.
RG_AVX512 inline __m512i paired(__m512 low, __m512 high) {
  const __m512i shifted = _mm512_srli_epi32(_mm512_castps_si512(low), 16);
  const __m512i mask = _mm512_set1_epi32(static_cast<int>(0xffff0000U));
  // shifted | (high & mask)
  return _mm512_ternarylogic_epi32(shifted, _mm512_castps_si512(high), mask, 0xf8);
}

// Rows are mostly adjacent, so the line this many bytes ahead will be read soon. The hardware prefetcher fetches it too
// late, which costs 5 to 15% of a pass whose source is not cached.
constexpr std::uintptr_t kAhead_bytes = 2048;

RG_AVX512 inline void expect(const void* from, std::uintptr_t ahead_bytes = kAhead_bytes) {
  // The address may be past the end of the tensor, which a prefetch ignores. Pointer arithmetic would be undefined.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is read through it
  _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(from) + ahead_bytes), _MM_HINT_T0);
}

// Adds 16 numbers to 16 f64 sums.
RG_AVX512 inline void add_to(double* to, __m512 values) {
  const __m512 upper = _mm512_shuffle_f32x4(values, values, 0xee);
  _mm512_storeu_pd(to, _mm512_add_pd(_mm512_loadu_pd(to), _mm512_cvtps_pd(_mm512_castps512_ps256(values))));
  _mm512_storeu_pd(to + 8, _mm512_add_pd(_mm512_loadu_pd(to + 8), _mm512_cvtps_pd(_mm512_castps512_ps256(upper))));
}

RG_AVX512 inline __m512 load(const float* from) { return _mm512_loadu_ps(from); }
RG_AVX512 inline __m512 load(const Bf16* from) {
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

RG_AVX512 inline __m512 whole(__m512 value) {
  const auto bits = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(value));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

RG_AVX512 inline void put(float* to, __m512 value, bool is_streaming) {
  if (is_streaming) {
    _mm512_stream_ps(to, value);
  } else {
    _mm512_storeu_ps(to, value);
  }
}
RG_AVX512 inline void put(Bf16* to, __m512 value, bool is_streaming) {
  const auto bits = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(value));
  if (is_streaming) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), bits);
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bits);
  }
}

// Numbers of a source in f32, normalised if kIsNormalised.
template <class T, bool kIsNormalised>
class Numbers {
 public:
  RG_AVX512 explicit Numbers(const PackSource<T>& source) : source_(source) {
    // A missing channel block has no constants.
    if (!kIsNormalised || source.base == nullptr) return;
    scale_ = _mm512_loadu_ps(source.scale);
    shift_ = _mm512_loadu_ps(source.shift);
    least_ = _mm512_set1_ps(source.relu ? 0.0F : -std::numeric_limits<float>::infinity());
  }
  RG_AVX512 __m512 operator()(std::int64_t i) const {
    const std::int64_t at = source_.base == nullptr ? -1 : source_.at[i * source_.at_step];
    if (at < 0) return _mm512_setzero_ps();
    const T* from = source_.base + at;
    expect(from);
    if constexpr (!kIsNormalised) return load(from);
    // If an operand is NaN, max returns the second one, so NaN stays NaN.
    return _mm512_max_ps(least_, _mm512_fmadd_ps(load(from), scale_, shift_));
  }
  // Splits row i into parts. For one plane, rounds to bf16 as put_results() does.
  template <int kPlanes>
  RG_AVX512 Parts<kPlanes> parts(std::int64_t i) const {
    if constexpr (kPlanes > 1 || (std::is_same_v<T, Bf16> && !kIsNormalised))
      return split<kPlanes>((*this)(i));
    else
      return {whole((*this)(i))};
  }

 private:
  PackSource<T> source_;
  __m512 scale_ = _mm512_setzero_ps(), shift_ = _mm512_setzero_ps(), least_ = _mm512_setzero_ps();
};

}  // namespace roentgen::engine::cpu::simd::avx512
