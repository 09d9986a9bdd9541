// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Products in AVX-512 intrinsics, as in tiles_numbers.h. Functions with instructions beyond the baseline have a target
// attribute, so that the file needs no special compiler flags.
#include "engine/cpu/simd/pointwise.h"

#if defined(__x86_64__)

#include <algorithm>
#include <array>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>

#include "engine/cpu/simd/claim.h"
#include "engine/cpu/simd/tiles_numbers.h"
#include "engine/cpu/simd/tiles_turn.h"

namespace roentgen::engine::cpu::simd {
namespace {

constexpr std::int64_t kBlock = 16;
constexpr std::uintptr_t kFloat_bytes = sizeof(float);

RG_AVX512 void normalised_rows(const PackSource<float>& source, std::int64_t count, float* to) {
  const avx512::Numbers<float, true> numbers(source);
  for (std::int64_t i = 0; i < count; ++i) _mm512_storeu_ps(to + i * kBlock, numbers(i));
}

// Computes kRows rows from `first` on. With 14 rows and two columns, registers hold 28 sums, two vectors of b and one
// number of a. That is 16 loads for 28 multiplications; a core starts two multiplications per cycle.
template <int kRows, int kColumns>
RG_AVX512 void some_rows(const RowProduct& work, std::int64_t first) {
  __m512 sums[kRows][kColumns];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int c = 0; c < kColumns; ++c) sums[r][c] = _mm512_setzero_ps();
  }
  float* const to = work.c + first * kBlock;
  if (work.is_claiming) {
#pragma GCC unroll 2
    for (int c = 0; c < kColumns; ++c) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) claim(to + c * work.c_column + r * kBlock);
    }
  }
  const float* b = work.b;
  for (std::int64_t step = 0; step < work.steps; ++step) {
    const float* a = work.a + step * work.a_step + first * kBlock;
    if (work.is_first) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) avx512::expect(a + r * kBlock, kRows * kBlock * kFloat_bytes);
    }
    if (work.ahead != nullptr) work.ahead->step(kRows);
    if (work.beside != nullptr) work.beside->step(kRows);
    for (const float* const end = a + kBlock; a != end; ++a, b += kBlock) {
      __m512 columns[kColumns];
#pragma GCC unroll 2
      for (int c = 0; c < kColumns; ++c) columns[c] = _mm512_loadu_ps(b + c * work.b_column);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const __m512 number = _mm512_set1_ps(a[r * kBlock]);
#pragma GCC unroll 2
        for (int c = 0; c < kColumns; ++c) sums[r][c] = _mm512_fmadd_ps(number, columns[c], sums[r][c]);
      }
    }
  }
  if (work.bias != nullptr) {
#pragma GCC unroll 2
    for (int c = 0; c < kColumns; ++c) {
      const __m512 bias = _mm512_loadu_ps(work.bias + c * kBlock);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) sums[r][c] = _mm512_add_ps(bias, sums[r][c]);
    }
  }
  if (work.adds) {
#pragma GCC unroll 2
    for (int c = 0; c < kColumns; ++c) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        sums[r][c] = _mm512_add_ps(sums[r][c], _mm512_loadu_ps(to + c * work.c_column + r * kBlock));
      }
    }
  }
  if (work.relu) {
    // The order matters: if one operand is NaN, max returns the second one.
#pragma GCC unroll 2
    for (int c = 0; c < kColumns; ++c) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) sums[r][c] = _mm512_max_ps(_mm512_setzero_ps(), sums[r][c]);
    }
  }
#pragma GCC unroll 2
  for (int c = 0; c < kColumns; ++c) {
    if (work.is_streaming) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) _mm512_stream_ps(to + c * work.c_column + r * kBlock, sums[r][c]);
    } else {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) _mm512_storeu_ps(to + c * work.c_column + r * kBlock, sums[r][c]);
    }
  }
  if (work.pivot == nullptr) return;
#pragma GCC unroll 2
  for (int c = 0; c < kColumns; ++c) {
    const __m512 pivot = _mm512_loadu_ps(work.pivot + c * kBlock);
    __m512 sum = _mm512_setzero_ps(), sum_sq = _mm512_setzero_ps();
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const __m512 from_pivot = _mm512_sub_ps(sums[r][c], pivot);
      sum = _mm512_add_ps(sum, from_pivot);
      sum_sq = _mm512_fmadd_ps(from_pivot, from_pivot, sum_sq);
    }
    avx512::add_to(work.sum + c * work.sum_column, sum);
    avx512::add_to(work.sum_sq + c * work.sum_column, sum_sq);
  }
}

constexpr int kMostRows = 14;
using SomeRows = void (*)(const RowProduct&, std::int64_t);
template <int kColumns, int... kRows>
constexpr std::array<SomeRows, kMostRows> table_of(std::integer_sequence<int, kRows...> /*less one*/) {
  return {some_rows<kRows + 1, kColumns>...};
}
template <int kColumns>
constexpr std::array<SomeRows, kMostRows> kSomeRows = table_of<kColumns>(std::make_integer_sequence<int, kMostRows>{});

// Number of pixels between two steps of the prefetch.
constexpr std::int64_t kAtATime = 8;

// Computes the sums for kRows of the 16 numbers of `a`, starting with number `first`.
template <int kRows, int kColumns>
RG_AVX512 void some_numbers(const PixelProduct& work, int first) {
  __m512 sums[kRows][kColumns];
  float* to = work.c + first * kBlock;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int c = 0; c < kColumns; ++c) {
      sums[r][c] = work.is_accumulating ? _mm512_loadu_ps(to + c * work.c_column + r * kBlock) : _mm512_setzero_ps();
    }
  }
  const float* a = work.a + first;
  const float* b = work.b;
  for (std::int64_t done = 0; done < work.pixels; done += kAtATime) {
    if (first == 0 && work.ahead != nullptr) work.ahead->step(std::min(kAtATime, work.pixels - done));
    for (const float* const end = a + std::min(kAtATime, work.pixels - done) * kBlock; a != end;
         a += kBlock, b += kBlock) {
      __m512 columns[kColumns];
#pragma GCC unroll 2
      for (int c = 0; c < kColumns; ++c) columns[c] = _mm512_loadu_ps(b + c * work.b_column);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const __m512 number = _mm512_set1_ps(a[r]);
#pragma GCC unroll 2
        for (int c = 0; c < kColumns; ++c) sums[r][c] = _mm512_fmadd_ps(number, columns[c], sums[r][c]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int c = 0; c < kColumns; ++c) _mm512_storeu_ps(to + c * work.c_column + r * kBlock, sums[r][c]);
  }
}

}  // namespace

bool has_avx512() {
  const auto level = static_cast<int>(dnnl::cpu_isa::avx512_core);
  static const bool has = (static_cast<int>(dnnl::get_effective_cpu_isa()) & level) == level;
  return has;
}

void normalise_rows(const PackSource<float>& source, std::int64_t count, float* to) {
  normalised_rows(source, count, to);
}

namespace {
void turn_plainly(const float* from, float* to) {
  for (std::int64_t i = 0; i < kBlock; ++i) {
    for (std::int64_t k = 0; k < kBlock; ++k) to[k * kBlock + i] = from[i * kBlock + k];
  }
}
RG_AVX512 void turn_in_registers(const float* from, float* to) {
  avx512::Square square;
  for (std::size_t i = 0; i < 16; ++i) square[i] = _mm512_loadu_si512(from + i * 16);
  avx512::turn(square);
  for (std::size_t i = 0; i < 16; ++i) _mm512_storeu_si512(to + i * 16, square[i]);
}
}  // namespace

void turn_square(const float* from, float* to) { has_avx512() ? turn_in_registers(from, to) : turn_plainly(from, to); }

void row_product(const RowProduct& work) {
  const auto& kernels = work.columns == 2 ? kSomeRows<2> : kSomeRows<1>;
  const std::int64_t tiles = (work.rows + kMostRows - 1) / kMostRows;
  std::int64_t first = 0;
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    // Parts have about the same size, so that none has too few sums to keep a core's units busy.
    const std::int64_t rows = (work.rows - first + tiles - tile - 1) / (tiles - tile);
    kernels[static_cast<std::size_t>(rows - 1)](work, first);
    first += rows;
  }
}

void pixel_product(const PixelProduct& work) {
  if (work.columns == 1) return some_numbers<16, 1>(work, 0);
  some_numbers<8, 2>(work, 0);
  some_numbers<8, 2>(work, 8);
}

}  // namespace roentgen::engine::cpu::simd

#else

namespace roentgen::engine::cpu::simd {
bool has_avx512() { return false; }
void normalise_rows(const PackSource<float>& /*source*/, std::int64_t /*count*/, float* /*to*/) {}
void turn_square(const float* from, float* to) {
  for (int i = 0; i < 16; ++i) {
    for (int k = 0; k < 16; ++k) to[k * 16 + i] = from[i * 16 + k];
  }
}
void row_product(const RowProduct& /*work*/) {}
void pixel_product(const PixelProduct& /*work*/) {}
}  // namespace roentgen::engine::cpu::simd

#endif
