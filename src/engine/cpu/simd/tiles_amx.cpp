// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Intel AMX, which Highway does not support. Functions with instructions beyond the baseline have a target attribute,
// so that the file needs no special compiler flags.
#include "engine/cpu/simd/tiles_amx.h"

#if defined(__x86_64__) && defined(__linux__)

#include <array>

#include "engine/cpu/simd/intrinsics.h"

#define RG_AMX __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,amx-tile,amx-bf16")))

namespace roentgen::engine::cpu::simd::amx {
namespace {

// Operand of LDTILECFG (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18).
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
// Static, because GCC 12 does not see that the instruction reads all of the object.
constexpr TileConfiguration kConfiguration;

// Products of up to 2 x 2 tiles. Tiles 0 to 3 hold results, 4 and 5 rows of a, 6 and 7 columns of b.
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
      // Multiplies the planes in an order that loads each plane once, except the middle plane of b, which is loaded
      // twice.
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

}  // namespace

RG_AMX void configure() { _tile_loadconfig(&kConfiguration); }

RG_AMX void release() { _tile_release(); }

void tile_product(const TileProduct& work) {
  if (work.row_tiles == 2) return work.column_tiles == 2 ? Products<2, 2>::run(work) : Products<2, 1>::run(work);
  return work.column_tiles == 2 ? Products<1, 2>::run(work) : Products<1, 1>::run(work);
}

}  // namespace roentgen::engine::cpu::simd::amx

#else

namespace roentgen::engine::cpu::simd::amx {

void configure() {}
void release() {}
void tile_product(const TileProduct& /*work*/) {}

}  // namespace roentgen::engine::cpu::simd::amx

#endif
