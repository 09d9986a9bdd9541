// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Variants of a convolution for tests of our kernels: they differ in the unit that multiplies and in the type of
// values.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "engine/cpu/conv/products/products.h"
#include "engine/cpu/plan/product_testing.h"
#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu {

enum class ProductWay {
  PlainF32,
  TilesF32,
  VectorsF32,
  PlainBf16,
  TilesBf16,
  VectorsBf16,
  Pointwise,
  WinogradF32,
  WinogradBf16,
};

/// Hardware unit that multiplies in this variant. Returns Plain for Winograd variants, which do not use a unit.
[[nodiscard]] inline simd::ProductUnit unit_of(ProductWay way) {
  if (way == ProductWay::Pointwise) return simd::ProductUnit::Avx512F32;
  if (way == ProductWay::TilesF32 || way == ProductWay::TilesBf16) return simd::ProductUnit::Amx;
  const bool is_on_vectors = way == ProductWay::VectorsF32 || way == ProductWay::VectorsBf16;
  return is_on_vectors ? simd::ProductUnit::Avx512 : simd::ProductUnit::Plain;
}

[[nodiscard]] inline bool is_by_winograd(ProductWay way) {
  return way == ProductWay::WinogradF32 || way == ProductWay::WinogradBf16;
}

/// True if values are stored in bf16.
[[nodiscard]] inline bool stores_bf16(ProductWay way) {
  return way == ProductWay::PlainBf16 || way == ProductWay::TilesBf16 || way == ProductWay::VectorsBf16 ||
         way == ProductWay::WinogradBf16;
}

/// Name of the variant in tests, such as "plain_f32", "AMX_bf16" or "winograd_bf16".
[[nodiscard]] inline std::string name_of(ProductWay way) {
  if (way == ProductWay::Pointwise) return "pointwise";
  const std::string what = is_by_winograd(way) ? "winograd" : std::string(simd::name_of(unit_of(way)));
  return what + (stores_bf16(way) ? "_bf16" : "_f32");
}

/// Groups of variants that differ only in the unit that multiplies, for share_by_unit().
using WaysByUnit = std::vector<std::vector<ProductWay>>;
[[nodiscard]] inline WaysByUnit product_ways() {
  return {{ProductWay::PlainF32, ProductWay::TilesF32, ProductWay::VectorsF32},
          {ProductWay::PlainBf16, ProductWay::TilesBf16, ProductWay::VectorsBf16},
          {ProductWay::Pointwise}};
}
[[nodiscard]] inline WaysByUnit product_and_winograd_ways() {
  WaysByUnit ways = product_ways();
  ways.push_back({ProductWay::WinogradF32});
  ways.push_back({ProductWay::WinogradBf16});
  return ways;
}

/// True if this machine has the hardware unit that the variant uses.
[[nodiscard]] inline bool has_unit_of(ProductWay way) { return simd::has_unit(unit_of(way)); }

/// Returns every case in every variant, divided among the units. A case with `is_large` takes too long in plain loops.
template <typename Case>
[[nodiscard]] SharedCases<std::tuple<ProductWay, Case>> share_by_unit(const std::vector<Case>& cases,
                                                                      const WaysByUnit& ways) {
  using Param = std::tuple<ProductWay, Case>;
  std::vector<std::vector<Param>> by_unit;
  for (const std::vector<ProductWay>& alike : ways) {
    for (const Case& tested : cases) {
      std::vector<Param>& all = by_unit.emplace_back();
      for (const ProductWay way : alike) all.emplace_back(way, tested);
    }
  }
  return share_out<Param>(by_unit, [](const Param& param) {
    const auto& [way, tested] = param;
    if constexpr (requires { tested.is_large; }) {
      if (tested.is_large && unit_of(way) == simd::ProductUnit::Plain) return false;
    }
    return has_unit_of(way);
  });
}

/// Reason to skip a test of this shape on this machine, or empty.
[[nodiscard]] inline std::string lacking(const ProductShape& shape) {
  if (!is_for_unit(shape)) return "SKIPPED: not for pointwise products";
  if (simd::has_unit(shape.unit)) return "";
  const std::string what = shape.unit == simd::ProductUnit::Avx512F32 ? "" : " for bf16";
  return "SKIPPED: this machine has no " + std::string(simd::name_of(shape.unit)) + what;
}

}  // namespace roentgen::engine::cpu
