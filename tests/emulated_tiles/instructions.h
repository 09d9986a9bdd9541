// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Emulates on AVX-512 the Intel AMX instructions that engine/cpu/simd/tiles_amx.cpp uses, so that its tests run on any
// such processor. tests/CMakeLists.txt compiles that file with this header before it. Behaviour follows the manual
// (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2). TDPBF16PS keeps its order of additions, and
// treats numbers below 2^-126 as zero. If a processor would fault, because there is no configuration or no such tile,
// the process ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "engine/cpu/simd/intrinsics.h"

#define RG_EMULATION __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

namespace roentgen::engine::cpu::simd::amx::emulated {

constexpr int kTiles = 8, kRows = 16, kRow_bytes = 64;

struct alignas(64) Tile {
  std::array<std::byte, std::size_t{kRows} * kRow_bytes> bytes{};
  [[nodiscard]] std::byte* row(int r) { return bytes.data() + r * kRow_bytes; }
};

/// Tile registers of one thread, which exist only after a configuration.
struct State {
  bool is_configured = false;
  std::array<Tile, kTiles> tiles{};

  [[nodiscard]] Tile& at(int tile) {
    if (!is_configured || tile < 0 || tile >= kTiles) std::abort();
    return tiles[static_cast<std::size_t>(tile)];
  }
};

inline State& state() {
  static thread_local State of_thread;
  return of_thread;
}

/// LDTILECFG: supports only palette 1 with eight tiles of 16 rows of 64 bytes; all other bytes must be zero. Clears all
/// tiles.
inline void load_configuration(const void* operand) {
  constexpr std::size_t kRow_bytesAt = 16, kRowsAt = 48;
  std::array<std::uint8_t, 64> ours{1};
  for (std::size_t tile = 0; tile < kTiles; ++tile) {
    ours[kRow_bytesAt + 2 * tile] = kRow_bytes;
    ours[kRowsAt + tile] = kRows;
  }
  if (std::memcmp(ours.data(), operand, ours.size()) != 0) std::abort();
  state() = State{.is_configured = true, .tiles = {}};
}

inline void release() { state().is_configured = false; }

inline void zero(int tile) { state().at(tile) = Tile{}; }

inline void load(int tile, const void* base, std::int64_t stride_bytes) {
  for (int r = 0; r < kRows; ++r) {
    std::memcpy(state().at(tile).row(r), static_cast<const std::byte*>(base) + r * stride_bytes, kRow_bytes);
  }
}

inline void store(int tile, void* base, std::int64_t stride_bytes) {
  for (int r = 0; r < kRows; ++r) {
    std::memcpy(static_cast<std::byte*>(base) + r * stride_bytes, state().at(tile).row(r), kRow_bytes);
  }
}

/// TDPBF16PS: c += a * b for pairs of bf16 numbers. The products of the first and of the second numbers have separate
/// sums, which start at zero. The total of both sums is added to c.
RG_EMULATION inline void multiply(int to, int left, int right) {
  Tile& c = state().at(to);
  Tile& a = state().at(left);
  Tile& b = state().at(right);
  // Rounds to nearest, raises no exceptions, and treats numbers below 2^-126 as zero, whatever the thread's mode.
  constexpr unsigned kOwnMode = 0x1f80 | 0x8040;
  const unsigned mode = _mm_getcsr();
  _mm_setcsr(kOwnMode);
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000U));
  for (int row = 0; row < kRows; ++row) {
    __m512 first = _mm512_setzero_ps(), second = _mm512_setzero_ps();
    for (int k = 0; k < kRows; ++k) {
      std::uint32_t pair = 0;
      std::memcpy(&pair, a.row(row) + k * sizeof pair, sizeof pair);
      const __m512i pairs = _mm512_load_si512(b.row(k));
      const __m512 of_first = _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
      const __m512 of_second = _mm512_castsi512_ps(_mm512_and_si512(pairs, upper));
      const auto number = [](std::uint32_t bits) {
        float value = 0.0F;
        std::memcpy(&value, &bits, sizeof value);
        return value;
      };
      first = _mm512_fmadd_ps(_mm512_set1_ps(number(pair << 16U)), of_first, first);
      second = _mm512_fmadd_ps(_mm512_set1_ps(number(pair & 0xffff0000U)), of_second, second);
    }
    auto* at = reinterpret_cast<float*>(c.row(row));
    _mm512_store_ps(at, _mm512_add_ps(_mm512_load_ps(at), _mm512_add_ps(first, second)));
  }
  _mm_setcsr(mode);
}

}  // namespace roentgen::engine::cpu::simd::amx::emulated

// Undefines the compiler's intrinsics, most of which are macros.
#undef _tile_dpbf16ps
#undef _tile_loadd
#undef _tile_stored
#undef _tile_zero
#undef RG_EMULATION
#define _tile_dpbf16ps emulated::multiply
#define _tile_loadconfig emulated::load_configuration
#define _tile_loadd emulated::load
#define _tile_release emulated::release
#define _tile_stored emulated::store
#define _tile_zero emulated::zero
