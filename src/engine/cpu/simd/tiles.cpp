// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plain loops that compute the functions of tiles.h, and the selection between plain loops, tiles (tiles_amx.cpp) and
// AVX-512 (tiles_avx512.cpp).
#include "engine/cpu/simd/tiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "engine/cpu/simd/pointwise.h"
#include "engine/cpu/simd/tiles_amx.h"
#include "engine/cpu/simd/tiles_avx512.h"
#include "engine/cpu/simd/tiles_meetings.h"

namespace roentgen::engine::cpu::simd {
namespace {

constexpr std::uint32_t kKept = 0xffff0000U, kHalf = 0x8000U;

// Nearest number with 8 significant bits; of two equally near ones, the larger.
float rounded(float value) { return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + kHalf) & kKept); }

using Parts = std::array<std::uint16_t, 3>;

Parts split(float value, std::int64_t planes) {
  const float most = rounded(value);
  const float rest = value - most;
  const float middle = rounded(rest);
  const auto bits = [](float part) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(part) >> 16); };
  return {bits(most), bits(middle), planes == 2 ? std::uint16_t{0} : bits(rest - middle)};
}

void store(float value, float& to) { to = value; }
void store(float value, Bf16& to) {
  constexpr float kLeast = 0x1p-126F;
  to = to_bf16(value > -kLeast && value < kLeast ? 0.0F : value);
}

template <class T>
float number(const PackSource<T>& source, std::int64_t i, std::int64_t lane) {
  if (source.base == nullptr || source.at[i * source.at_step] < 0) return 0.0F;
  const std::int64_t at = source.at[i * source.at_step] + lane;
  const float stored = to_f32(source.base[at]);
  if (source.scale == nullptr) return stored;
  const float value = std::fma(stored, source.scale[lane], source.shift[lane]);
  return source.relu && value < 0.0F ? 0.0F : value;
}

void put(std::byte* to, std::int64_t planes, std::int64_t plane, float value) {
  const Parts parts = planes == 1 ? Parts{to_bf16(value).bits, 0, 0} : split(value, planes);
  for (std::int64_t p = 0; p < planes; ++p) {
    std::memcpy(to + p * plane, &parts[static_cast<std::size_t>(p)], sizeof(std::uint16_t));
  }
}

float get(const std::byte* from) {
  std::uint16_t half = 0;
  std::memcpy(&half, from, sizeof half);
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

void plain_product(const TileProduct& work, const std::byte* a, const std::byte* b, float* c) {
  const std::span<const Meeting> meeting = meetings_of(work.planes);
  for (std::int64_t row = 0; row < kTileRows; ++row) {
    for (std::int64_t column = 0; column < kTileRows; ++column) {
      float sum = work.is_accumulating ? c[row * kTileRows + column] : 0.0F;
      for (std::int64_t step = 0; step < work.steps; ++step) {
        for (const auto& [of_a, of_b] : meeting) {
          const std::byte* left = a + work.a_steps[step] + of_a * work.a_plane + row * work.a_row;
          const std::byte* right = b + step * work.b_step + of_b * work.b_plane + column * 4;
          for (std::int64_t term = 0; term < kTileTerms; ++term) {
            sum += get(left + term * 2) * get(right + term / 2 * kTileRow_bytes + term % 2 * 2);
          }
        }
      }
      c[row * kTileRows + column] = sum;
    }
  }
}

}  // namespace

bool has_tiles() {
  static const bool has = amx::is_granted();
  return has;
}

std::string_view tile_instructions() { return has_tiles() ? amx::instructions() : "no tiles"; }

bool has_unit(ProductUnit unit) {
  if (unit == ProductUnit::Amx) return has_tiles();
  if (unit == ProductUnit::Avx512F32) return has_avx512();
  return unit == ProductUnit::Plain || avx512::is_there();
}

std::optional<ProductUnit> bf16_unit() {
  if (has_tiles()) return ProductUnit::Amx;
  return avx512::is_there() ? std::optional(ProductUnit::Avx512) : std::nullopt;
}

std::string_view name_of(ProductUnit unit) {
  if (unit == ProductUnit::Plain) return "plain";
  return unit == ProductUnit::Amx ? "AMX" : "AVX512";
}

TileSession::TileSession(ProductUnit unit) : unit_(unit) {
  if (unit_ == ProductUnit::Amx) amx::configure();
}
TileSession::~TileSession() {
  if (unit_ != ProductUnit::Plain) avx512::release();
  if (unit_ == ProductUnit::Amx) amx::release();
}

template <class T>
void pack_pairs(ProductUnit unit, const PackSource<T>& first, const PackSource<T>& second, std::int64_t count,
                std::byte* to, std::int64_t planes, std::int64_t plane) {
  if (unit != ProductUnit::Plain) return avx512::pack_pairs(first, second, count, to, planes, plane);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t lane = 0; lane < kTileRows; ++lane) {
      std::byte* pair = to + i * kTileRow_bytes + lane * 4;
      put(pair, planes, plane, number(first, i, lane));
      put(pair + 2, planes, plane, number(second, i, lane));
    }
  }
}

template <class T>
void pack_turned(ProductUnit unit, const PackSource<T>& first, const PackSource<T>& second, std::byte* to,
                 std::int64_t row, std::int64_t planes, std::int64_t plane) {
  if (unit != ProductUnit::Plain) return avx512::pack_turned(first, second, to, row, planes, plane);
  for (std::int64_t i = 0; i < kTileRows; ++i) {
    for (std::int64_t lane = 0; lane < kTileRows; ++lane) {
      std::byte* pair = to + lane * row + i * 4;
      put(pair, planes, plane, number(first, i, lane));
      put(pair + 2, planes, plane, number(second, i, lane));
    }
  }
}

template <class T>
void put_results(ProductUnit unit, const TileResults<T>& work) {
  if (unit != ProductUnit::Plain) return avx512::put_results(work);
  for (std::int64_t row = 0; row < work.rows; ++row) {
    if (work.at[row] < 0) continue;
    for (std::int64_t lane = 0; lane < kTileRows; ++lane) {
      T& to = work.base[work.at[row] + lane];
      float value = work.c == nullptr ? 0.0F : work.c[row * kTileRows + lane];
      if (work.bias != nullptr) value += work.bias[lane];
      if (work.adds) value += to_f32(to);
      store(work.relu && value < 0.0F ? 0.0F : value, to);
      if (work.pivot == nullptr) continue;
      const double from_pivot = static_cast<double>(to_f32(to) - work.pivot[lane]);
      work.sum[lane] += from_pivot;
      work.sum_sq[lane] += from_pivot * from_pivot;
    }
  }
}

void tile_product(ProductUnit unit, const TileProduct& work) {
  if (unit == ProductUnit::Amx) return amx::tile_product(work);
  if (unit == ProductUnit::Avx512) return avx512::tile_product(work);
  for (int row_tile = 0; row_tile < work.row_tiles; ++row_tile) {
    for (int column_tile = 0; column_tile < work.column_tiles; ++column_tile) {
      plain_product(work, work.a + row_tile * work.a_tile, work.b + column_tile * work.b_tile,
                    work.c + row_tile * work.c_row_tile + column_tile * work.c_column_tile);
    }
  }
}

template void pack_pairs(ProductUnit, const PackSource<float>&, const PackSource<float>&, std::int64_t, std::byte*,
                         std::int64_t, std::int64_t);
template void pack_pairs(ProductUnit, const PackSource<Bf16>&, const PackSource<Bf16>&, std::int64_t, std::byte*,
                         std::int64_t, std::int64_t);
template void pack_turned(ProductUnit, const PackSource<float>&, const PackSource<float>&, std::byte*, std::int64_t,
                          std::int64_t, std::int64_t);
template void pack_turned(ProductUnit, const PackSource<Bf16>&, const PackSource<Bf16>&, std::byte*, std::int64_t,
                          std::int64_t, std::int64_t);
template void put_results(ProductUnit, const TileResults<float>&);
template void put_results(ProductUnit, const TileResults<Bf16>&);

}  // namespace roentgen::engine::cpu::simd
