// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The ways to compute a convolution that tests of our kernels go through: what multiplies, and the type of values.
#pragma once

#include <string>

#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu {

enum class ProductWay {
  PlainF32,
  TilesF32,
  VectorsF32,
  PlainBf16,
  TilesBf16,
  VectorsBf16,
  WinogradF32,
  WinogradBf16,
};

/// What multiplies; Plain for Winograd's, which have no unit.
[[nodiscard]] inline simd::TileUnit unit_of(ProductWay way) {
  if (way == ProductWay::TilesF32 || way == ProductWay::TilesBf16) return simd::TileUnit::Amx;
  const bool is_on_vectors = way == ProductWay::VectorsF32 || way == ProductWay::VectorsBf16;
  return is_on_vectors ? simd::TileUnit::Avx512 : simd::TileUnit::Plain;
}

[[nodiscard]] inline bool is_by_winograd(ProductWay way) {
  return way == ProductWay::WinogradF32 || way == ProductWay::WinogradBf16;
}

/// Whether values are stored in bf16.
[[nodiscard]] inline bool stores_bf16(ProductWay way) {
  return way == ProductWay::PlainBf16 || way == ProductWay::TilesBf16 || way == ProductWay::VectorsBf16 ||
         way == ProductWay::WinogradBf16;
}

/// As tests are named: "plain_f32", "AMX_bf16", "winograd_bf16", ...
[[nodiscard]] inline std::string name_of(ProductWay way) {
  const std::string what = is_by_winograd(way) ? "winograd" : std::string(simd::name_of(unit_of(way)));
  return what + (stores_bf16(way) ? "_bf16" : "_f32");
}

}  // namespace roentgen::engine::cpu
