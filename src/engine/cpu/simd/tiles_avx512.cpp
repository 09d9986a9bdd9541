// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Products in intrinsics, since Highway 1.0 has no products of bf16 pairs. Functions with instructions beyond the
// baseline have a target attribute, so that the file needs no special compiler flags.
#include "engine/cpu/simd/tiles_avx512.h"

#if defined(__x86_64__)

#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <type_traits>

#include "engine/cpu/simd/tiles_meetings.h"
#include "engine/cpu/simd/tiles_numbers.h"
#include "engine/cpu/simd/tiles_turn.h"

namespace roentgen::engine::cpu::simd::avx512 {
namespace {

template <class T, bool kIsNormalised, int kPlanes>
RG_AVX512 void pairs_of(const PackSource<T>& first, const PackSource<T>& second, std::int64_t count, std::byte* to,
                        std::int64_t plane) {
  const Numbers<T, kIsNormalised> lows(first), highs(second);
  for (std::int64_t i = 0; i < count; ++i, to += kTileRow_bytes) {
    const auto low = lows.template parts<kPlanes>(i);
    const auto high = highs.template parts<kPlanes>(i);
    for (int p = 0; p < kPlanes; ++p) _mm512_store_si512(to + p * plane, paired(low.of[p], high.of[p]));
  }
}
template <class T, bool kIsNormalised, int kPlanes>
RG_AVX512 void turned_of(const PackSource<T>& first, const PackSource<T>& second, std::byte* to, std::int64_t row,
                         std::int64_t plane) {
  const Numbers<T, kIsNormalised> lows(first), highs(second);
  Square squares[kPlanes];
  for (std::size_t pair = 0; pair < 16; ++pair) {
    const auto low = lows.template parts<kPlanes>(static_cast<std::int64_t>(pair));
    const auto high = highs.template parts<kPlanes>(static_cast<std::int64_t>(pair));
    for (int p = 0; p < kPlanes; ++p) squares[p][pair] = paired(low.of[p], high.of[p]);
  }
  for (Square& square : squares) {
    turn(square);
    for (std::size_t lane = 0; lane < 16; ++lane) {
      _mm512_store_si512(to + static_cast<std::int64_t>(lane) * row, square[lane]);
    }
    to += plane;
  }
}

// Calls run(is_normalised, planes) with compile-time constants.
template <class T, class Run>
void for_kind(const PackSource<T>& source, std::int64_t planes, const Run& run) {
  const auto with = [&](auto is_normalised) {
    if (std::is_same_v<T, Bf16> || planes == 1) return run(is_normalised, std::integral_constant<int, 1>{});
    if constexpr (std::is_same_v<T, float>) {
      if (planes == 2) return run(is_normalised, std::integral_constant<int, 2>{});
      run(is_normalised, std::integral_constant<int, 3>{});
    }
  };
  if (source.scale != nullptr) return with(std::true_type{});
  with(std::false_type{});
}

// Returns a vector with the same pair of bf16 numbers 16 times.
RG_AVX512 inline __m512bh all_of(const std::byte* at) {
  std::int32_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return reinterpret_cast<__m512bh>(_mm512_set1_epi32(bits));
}

// Computes kRows rows from `first` on, for one or two tiles of columns. With 11 rows and two columns, registers hold 22
// sums, two vectors of b and a pair of a. That is 13 loads for 22 multiplications; a core starts two multiplications
// per cycle. kIsDense: rows of a are kTileRow_bytes apart, also from tile to tile; otherwise all rows must be in one
// tile.
template <int kRows, int kColumns, bool kIsDense>
RG_AVX512 void product_rows(const TileProduct& work, std::span<const Meeting> meeting, std::int64_t first) {
  const std::int64_t a_row = kIsDense ? kTileRow_bytes : work.a_row;
  const std::int64_t a_first =
      kIsDense ? first * kTileRow_bytes : first / kTileRows * work.a_tile + first % kTileRows * work.a_row;
  const auto result = [&](int row, int column) {
    return work.c + (first + row) / kTileRows * work.c_row_tile + (first + row) % kTileRows * kTileRows +
           column * work.c_column_tile;
  };
  __m512 sums[kRows][kColumns];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int c = 0; c < kColumns; ++c) {
      sums[r][c] = work.is_accumulating ? _mm512_loadu_ps(result(r, c)) : _mm512_setzero_ps();
    }
  }
  for (std::int64_t step = 0; step < work.steps; ++step) {
    for (const Meeting& planes : meeting) {
      const std::byte* a = work.a + work.a_steps[step] + planes.of_a * work.a_plane + a_first;
      const std::byte* b = work.b + step * work.b_step + planes.of_b * work.b_plane;
      for (const std::byte* const end = b + kTile_bytes; b != end; a += 4, b += kTileRow_bytes) {
        __m512bh columns[kColumns];
#pragma GCC unroll 2
        for (int c = 0; c < kColumns; ++c) {
          columns[c] = reinterpret_cast<__m512bh>(_mm512_load_si512(b + c * work.b_tile));
        }
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
          const __m512bh pair = all_of(a + r * a_row);
#pragma GCC unroll 2
          for (int c = 0; c < kColumns; ++c) sums[r][c] = _mm512_dpbf16_ps(sums[r][c], pair, columns[c]);
        }
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int c = 0; c < kColumns; ++c) _mm512_storeu_ps(result(r, c), sums[r][c]);
  }
}

template <int kColumns>
void product_columns(const TileProduct& work) {
  const std::span<const Meeting> meeting = meetings_of(work.planes);
  const bool is_dense = work.a_row == kTileRow_bytes && (work.row_tiles == 1 || work.a_tile == kTile_bytes);
  if (is_dense && work.row_tiles == 2) {
    product_rows<11, kColumns, true>(work, meeting, 0);
    product_rows<11, kColumns, true>(work, meeting, 11);
    product_rows<10, kColumns, true>(work, meeting, 22);
    return;
  }
  for (std::int64_t first = 0; first < work.row_tiles * kTileRows; first += 8) {
    product_rows<8, kColumns, false>(work, meeting, first);
  }
}

RG_AVX512 inline __m512 as_stored(__m512 value, const float* /*to*/) { return value; }
RG_AVX512 inline __m512 as_stored(__m512 value, const Bf16* /*to*/) { return whole(value); }

template <class T, bool kSums>
RG_AVX512 void results_of(const TileResults<T>& work) {
  const __m512 bias = work.bias == nullptr ? _mm512_setzero_ps() : _mm512_loadu_ps(work.bias);
  const __m512 pivot = kSums ? _mm512_loadu_ps(work.pivot) : _mm512_setzero_ps();
  __m512 sum = _mm512_setzero_ps(), sum_sq = _mm512_setzero_ps();
  for (std::int64_t row = 0; row < work.rows; ++row) {
    if (work.at[row] < 0) continue;
    T* to = work.base + work.at[row];
    __m512 value = work.c == nullptr ? bias : _mm512_add_ps(bias, _mm512_loadu_ps(work.c + row * kTileRows));
    if (work.adds) value = _mm512_add_ps(value, load(to));
    // If an operand is NaN, the instruction returns the second one, so NaN stays NaN.
    if (work.relu) value = _mm512_max_ps(_mm512_setzero_ps(), value);
    put(to, value, work.is_streaming);
    if constexpr (kSums) {
      const __m512 from_pivot = _mm512_sub_ps(as_stored(value, to), pivot);
      sum = _mm512_add_ps(sum, from_pivot);
      sum_sq = _mm512_fmadd_ps(from_pivot, from_pivot, sum_sq);
    }
  }
  if constexpr (kSums) {
    add_to(work.sum, sum);
    add_to(work.sum_sq, sum_sq);
  }
}
template <class T>
void put_all(const TileResults<T>& work) {
  if (work.pivot == nullptr) return results_of<T, false>(work);
  results_of<T, true>(work);
}

}  // namespace

bool is_there() {
  const auto bf16 = static_cast<int>(dnnl::cpu_isa::avx512_core_bf16);
  static const bool is = (static_cast<int>(dnnl::get_effective_cpu_isa()) & bf16) == bf16;
  return is;
}

void release() { _mm_sfence(); }

void tile_product(const TileProduct& work) {
  work.column_tiles == 2 ? product_columns<2>(work) : product_columns<1>(work);
}

void pack_pairs(const PackSource<float>& first, const PackSource<float>& second, std::int64_t count, std::byte* to,
                std::int64_t planes, std::int64_t plane) {
  for_kind(first, planes, [&](auto norm, auto p) { pairs_of<float, norm(), p()>(first, second, count, to, plane); });
}
void pack_pairs(const PackSource<Bf16>& first, const PackSource<Bf16>& second, std::int64_t count, std::byte* to,
                std::int64_t planes, std::int64_t plane) {
  for_kind(first, planes, [&](auto norm, auto p) { pairs_of<Bf16, norm(), p()>(first, second, count, to, plane); });
}
void pack_turned(const PackSource<float>& first, const PackSource<float>& second, std::byte* to, std::int64_t row,
                 std::int64_t planes, std::int64_t plane) {
  for_kind(first, planes, [&](auto norm, auto p) { turned_of<float, norm(), p()>(first, second, to, row, plane); });
}
void pack_turned(const PackSource<Bf16>& first, const PackSource<Bf16>& second, std::byte* to, std::int64_t row,
                 std::int64_t planes, std::int64_t plane) {
  for_kind(first, planes, [&](auto norm, auto p) { turned_of<Bf16, norm(), p()>(first, second, to, row, plane); });
}
void put_results(const TileResults<float>& work) { put_all(work); }
void put_results(const TileResults<Bf16>& work) { put_all(work); }

}  // namespace roentgen::engine::cpu::simd::avx512

#else

namespace roentgen::engine::cpu::simd::avx512 {

bool is_there() { return false; }
void release() {}
void pack_pairs(const PackSource<float>& /*first*/, const PackSource<float>& /*second*/, std::int64_t /*count*/,
                std::byte* /*to*/, std::int64_t /*planes*/, std::int64_t /*plane*/) {}
void pack_pairs(const PackSource<Bf16>& /*first*/, const PackSource<Bf16>& /*second*/, std::int64_t /*count*/,
                std::byte* /*to*/, std::int64_t /*planes*/, std::int64_t /*plane*/) {}
void pack_turned(const PackSource<float>& /*first*/, const PackSource<float>& /*second*/, std::byte* /*to*/,
                 std::int64_t /*row*/, std::int64_t /*planes*/, std::int64_t /*plane*/) {}
void pack_turned(const PackSource<Bf16>& /*first*/, const PackSource<Bf16>& /*second*/, std::byte* /*to*/,
                 std::int64_t /*row*/, std::int64_t /*planes*/, std::int64_t /*plane*/) {}
void tile_product(const TileProduct& /*work*/) {}
void put_results(const TileResults<float>& /*work*/) {}
void put_results(const TileResults<Bf16>& /*work*/) {}

}  // namespace roentgen::engine::cpu::simd::avx512

#endif
