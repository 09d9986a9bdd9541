// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Intel AMX with AVX-512 around it; Highway has no tiles. Instructions beyond the baseline are in functions marked for
// them, so that the file compiles like any other.
#include "engine/cpu/simd/tiles_amx.h"

#if defined(__x86_64__) && defined(__linux__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <type_traits>

#include "engine/cpu/simd/tiles_numbers.h"
#include "engine/cpu/simd/tiles_turn.h"

#define RG_AMX __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,amx-tile,amx-bf16")))

namespace roentgen::engine::cpu::simd::amx {
namespace {

// LDTILECFG's operand (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18).
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::array<std::uint8_t, 14> reserved{};
  std::array<std::uint16_t, 16> row_bytes{};
  std::array<std::uint8_t, 16> rows{};

  constexpr TileConfiguration() {
    for (std::size_t tile = 0; tile < 8; ++tile) {
      row_bytes[tile] = kTileRow_bytes;
      rows[tile] = kTileRows;
    }
  }
};
// Static: GCC 12 does not see that the instruction reads all of it.
constexpr TileConfiguration kConfiguration;

// Tiles 0 to 3 hold results, 4 and 5 rows of a, 6 and 7 columns of b.
template <int RowTiles, int ColumnTiles>
struct Products {
  RG_AMX static void load_a(const std::byte* at, const TileProduct& work, int plane) {
    at += plane * work.a_plane;
    _tile_loadd(4, at, work.a_row);
    if constexpr (RowTiles == 2) _tile_loadd(5, at + work.a_tile, work.a_row);
  }
  RG_AMX static void load_b(const std::byte* at, const TileProduct& work, int plane) {
    at += plane * work.b_plane;
    _tile_loadd(6, at, kTileRow_bytes);
    if constexpr (ColumnTiles == 2) _tile_loadd(7, at + work.b_tile, kTileRow_bytes);
  }
  RG_AMX static void add() {
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (ColumnTiles == 2) _tile_dpbf16ps(1, 4, 7);
    if constexpr (RowTiles == 2) _tile_dpbf16ps(2, 5, 6);
    if constexpr (RowTiles == 2 && ColumnTiles == 2) _tile_dpbf16ps(3, 5, 7);
  }
  RG_AMX static void begin(const TileProduct& work) {
    if (!work.is_accumulating) {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
      return;
    }
    _tile_loadd(0, work.c, kTileRow_bytes);
    if constexpr (ColumnTiles == 2) _tile_loadd(1, work.c + work.c_column_tile, kTileRow_bytes);
    if constexpr (RowTiles == 2) _tile_loadd(2, work.c + work.c_row_tile, kTileRow_bytes);
    if constexpr (RowTiles == 2 && ColumnTiles == 2) {
      _tile_loadd(3, work.c + work.c_row_tile + work.c_column_tile, kTileRow_bytes);
    }
  }
  RG_AMX static void end(const TileProduct& work) {
    _tile_stored(0, work.c, kTileRow_bytes);
    if constexpr (ColumnTiles == 2) _tile_stored(1, work.c + work.c_column_tile, kTileRow_bytes);
    if constexpr (RowTiles == 2) _tile_stored(2, work.c + work.c_row_tile, kTileRow_bytes);
    if constexpr (RowTiles == 2 && ColumnTiles == 2) {
      _tile_stored(3, work.c + work.c_row_tile + work.c_column_tile, kTileRow_bytes);
    }
  }
  RG_AMX static void run(const TileProduct& work) {
    // GCC 12 does not know that tiles are loaded from memory.
    asm volatile("" ::: "memory");
    begin(work);
    if (work.planes == 1) {
      one_plane(work);
    } else if (work.planes == 2) {
      two_planes(work);
    } else {
      three_planes(work);
    }
    end(work);
  }
  RG_AMX static void one_plane(const TileProduct& work) {
    const std::byte* b = work.b;
    for (std::int64_t step = 0; step < work.steps; ++step, b += work.b_step) {
      load_a(work.a + work.a_steps[step], work, 0);
      load_b(b, work, 0);
      add();
    }
  }
  RG_AMX static void two_planes(const TileProduct& work) {
    const std::byte* b = work.b;
    for (std::int64_t step = 0; step < work.steps; ++step, b += work.b_step) {
      const std::byte* a = work.a + work.a_steps[step];
      load_a(a, work, 0);
      load_b(b, work, 1);
      add();
      load_b(b, work, 0);
      add();
      load_a(a, work, 1);
      add();
    }
  }
  RG_AMX static void three_planes(const TileProduct& work) {
    const std::byte* b = work.b;
    for (std::int64_t step = 0; step < work.steps; ++step, b += work.b_step) {
      const std::byte* a = work.a + work.a_steps[step];
      // In the order that loads each plane once, b's middle one twice.
      load_a(a, work, 0);
      load_b(b, work, 1);
      add();
      load_b(b, work, 2);
      add();
      load_b(b, work, 0);
      add();
      load_a(a, work, 2);
      add();
      load_a(a, work, 1);
      add();
      load_b(b, work, 1);
      add();
    }
  }
};

template <class T, Made kMade, int kPlanes>
RG_AVX512 void pairs_of(const SplitSource<T>& first, const SplitSource<T>& second, std::int64_t count, std::byte* to,
                        std::int64_t plane) {
  const Numbers<T, kMade> lows(first), highs(second);
  for (std::int64_t i = 0; i < count; ++i, to += kTileRow_bytes) {
    const auto low = lows.template parts<kPlanes>(i);
    const auto high = highs.template parts<kPlanes>(i);
    for (int p = 0; p < kPlanes; ++p) _mm512_store_si512(to + p * plane, paired(low.of[p], high.of[p]));
  }
}
template <class T, Made kMade, int kPlanes>
RG_AVX512 void turned_of(const SplitSource<T>& first, const SplitSource<T>& second, std::byte* to, std::int64_t row,
                         std::int64_t plane) {
  const Numbers<T, kMade> lows(first), highs(second);
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

// Calls run with what is made of the numbers, and the number of planes, as constants.
template <class T, class Run>
void for_kind(const SplitSource<T>& source, std::int64_t planes, const Run& run) {
  const auto with = [&](auto made) {
    if (std::is_same_v<T, Bf16> || planes == 1) return run(made, std::integral_constant<int, 1>{});
    if constexpr (std::is_same_v<T, float>) {
      if (planes == 2) return run(made, std::integral_constant<int, 2>{});
      run(made, std::integral_constant<int, 3>{});
    }
  };
  switch (made_of(source)) {
    case Made::Nothing:
      return with(std::integral_constant<Made, Made::Nothing>{});
    case Made::Norm:
      return with(std::integral_constant<Made, Made::Norm>{});
    case Made::NormGradient:
      return with(std::integral_constant<Made, Made::NormGradient>{});
    case Made::Sum:
      return with(std::integral_constant<Made, Made::Sum>{});
  }
}

RG_AVX512 void add_to(double* to, __m512 values) {
  const __m512 upper = _mm512_shuffle_f32x4(values, values, 0xee);
  _mm512_storeu_pd(to, _mm512_add_pd(_mm512_loadu_pd(to), _mm512_cvtps_pd(_mm512_castps512_ps256(values))));
  _mm512_storeu_pd(to + 8, _mm512_add_pd(_mm512_loadu_pd(to + 8), _mm512_cvtps_pd(_mm512_castps512_ps256(upper))));
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
    // The second operand is what a NaN gives: it stays one.
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

bool is_granted() {
  const auto amx = static_cast<int>(dnnl::cpu_isa::avx512_core_amx);
  if ((static_cast<int>(dnnl::get_effective_cpu_isa()) & amx) != amx) return false;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  constexpr unsigned kBf16 = 1U << 22U, kTile = 1U << 24U, kVectorBf16 = 1U << 5U;
  if ((edx & kBf16) == 0 || (edx & kTile) == 0) return false;
  // Linux gives a process the tiles' state only on request.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) == 0 || (eax & kVectorBf16) == 0) return false;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

RG_AMX void configure() { _tile_loadconfig(&kConfiguration); }

// Streamed results are in order before any other thread is told of them, however the team signals that.
RG_AMX void release() {
  _mm_sfence();
  _tile_release();
}

void split_pairs(const SplitSource<float>& first, const SplitSource<float>& second, std::int64_t count, std::byte* to,
                 std::int64_t planes, std::int64_t plane) {
  for_kind(first, planes, [&](auto norm, auto p) { pairs_of<float, norm(), p()>(first, second, count, to, plane); });
}
void split_pairs(const SplitSource<Bf16>& first, const SplitSource<Bf16>& second, std::int64_t count, std::byte* to,
                 std::int64_t planes, std::int64_t plane) {
  for_kind(first, planes, [&](auto norm, auto p) { pairs_of<Bf16, norm(), p()>(first, second, count, to, plane); });
}
void split_turned(const SplitSource<float>& first, const SplitSource<float>& second, std::byte* to, std::int64_t row,
                  std::int64_t planes, std::int64_t plane) {
  for_kind(first, planes, [&](auto norm, auto p) { turned_of<float, norm(), p()>(first, second, to, row, plane); });
}
void split_turned(const SplitSource<Bf16>& first, const SplitSource<Bf16>& second, std::byte* to, std::int64_t row,
                  std::int64_t planes, std::int64_t plane) {
  for_kind(first, planes, [&](auto norm, auto p) { turned_of<Bf16, norm(), p()>(first, second, to, row, plane); });
}
void put_results(const TileResults<float>& work) { put_all(work); }
void put_results(const TileResults<Bf16>& work) { put_all(work); }

void tile_product(const TileProduct& work) {
  if (work.row_tiles == 2) return work.column_tiles == 2 ? Products<2, 2>::run(work) : Products<2, 1>::run(work);
  return work.column_tiles == 2 ? Products<1, 2>::run(work) : Products<1, 1>::run(work);
}

}  // namespace roentgen::engine::cpu::simd::amx

#else

namespace roentgen::engine::cpu::simd::amx {

bool is_granted() { return false; }
void configure() {}
void release() {}
void split_pairs(const SplitSource<float>& /*first*/, const SplitSource<float>& /*second*/, std::int64_t /*count*/,
                 std::byte* /*to*/, std::int64_t /*planes*/, std::int64_t /*plane*/) {}
void split_turned(const SplitSource<float>& /*first*/, const SplitSource<float>& /*second*/, std::byte* /*to*/,
                  std::int64_t /*row*/, std::int64_t /*planes*/, std::int64_t /*plane*/) {}
void put_results(const TileResults<float>& /*work*/) {}
void split_pairs(const SplitSource<Bf16>& /*first*/, const SplitSource<Bf16>& /*second*/, std::int64_t /*count*/,
                 std::byte* /*to*/, std::int64_t /*planes*/, std::int64_t /*plane*/) {}
void split_turned(const SplitSource<Bf16>& /*first*/, const SplitSource<Bf16>& /*second*/, std::byte* /*to*/,
                  std::int64_t /*row*/, std::int64_t /*planes*/, std::int64_t /*plane*/) {}
void put_results(const TileResults<Bf16>& /*work*/) {}
void tile_product(const TileProduct& /*work*/) {}

}  // namespace roentgen::engine::cpu::simd::amx

#endif
