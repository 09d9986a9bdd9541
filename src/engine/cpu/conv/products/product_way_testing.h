// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The ways to compute a convolution that tests of our kernels go through: what multiplies, and the type of values.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "engine/cpu/conv/products/pointwise_conv.h"
#include "engine/cpu/conv/products/split_conv.h"
#include "engine/cpu/plan/product_testing.h"
#include "engine/cpu/simd/pointwise.h"
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

/// What multiplies; Plain for Winograd's and pointwise products, which have no unit.
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
  if (way == ProductWay::Pointwise) return "pointwise";
  const std::string what = is_by_winograd(way) ? "winograd" : std::string(simd::name_of(unit_of(way)));
  return what + (stores_bf16(way) ? "_bf16" : "_f32");
}

/// Ways that differ in the unit alone, for share_by_unit().
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

/// Whether this machine has the unit of a way.
[[nodiscard]] inline bool has_unit_of(ProductWay way) {
  return way == ProductWay::Pointwise ? simd::has_avx512() : simd::has_unit(unit_of(way));
}

/// Every case by every way, shared out by unit. A case has `is_large` where plain loops take too long.
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
      if (tested.is_large && way != ProductWay::Pointwise && unit_of(way) == simd::TileUnit::Plain) return false;
    }
    return has_unit_of(way);
  });
}

/// What lacks here for products of that shape by that way, for who skips; empty: nothing.
[[nodiscard]] inline std::string lacking(ProductWay way, const SplitShape& shape) {
  if (way == ProductWay::Pointwise) {
    if (!simd::has_avx512()) return "SKIPPED: this machine has no AVX-512";
    return has_pointwise(shape) ? "" : "SKIPPED: not for pointwise products";
  }
  const simd::TileUnit unit = unit_of(way);
  return simd::has_unit(unit) ? "" : "SKIPPED: this machine has no " + std::string(simd::name_of(unit)) + " for bf16";
}

/// The passes by products, of bf16 numbers or pointwise, and their scratch.
[[nodiscard]] inline std::unique_ptr<Kernel> product_forward(ProductWay way, const SplitShape& shape,
                                                             const ConvTensors& tensors) {
  return way == ProductWay::Pointwise ? pointwise_forward(shape, tensors) : split_forward(shape, tensors);
}
[[nodiscard]] inline std::unique_ptr<Kernel> product_backward_data(ProductWay way, const SplitShape& shape,
                                                                   const ConvTensors& tensors) {
  return way == ProductWay::Pointwise ? pointwise_backward_data(shape, tensors) : split_backward_data(shape, tensors);
}
[[nodiscard]] inline std::unique_ptr<Kernel> product_backward_weights(ProductWay way, const SplitShape& shape,
                                                                      const ConvTensors& tensors) {
  return way == ProductWay::Pointwise ? pointwise_backward_weights(shape, tensors)
                                      : split_backward_weights(shape, tensors);
}
[[nodiscard]] inline std::size_t product_forward_scratch(ProductWay way, const SplitShape& shape,
                                                         const NormalisedInput& input = {}) {
  return way == ProductWay::Pointwise ? pointwise_forward_scratch(shape, input).total(shape.threads)
                                      : split_forward_scratch(shape, input).total(shape.threads);
}
[[nodiscard]] inline std::size_t product_backward_data_scratch(ProductWay way, const SplitShape& shape) {
  return way == ProductWay::Pointwise ? pointwise_backward_data_scratch(shape).total(shape.threads)
                                      : split_backward_data_scratch(shape).total(shape.threads);
}
[[nodiscard]] inline std::size_t product_backward_weights_scratch(ProductWay way, const SplitShape& shape,
                                                                  const NormalisedInput& input = {}) {
  return way == ProductWay::Pointwise ? pointwise_backward_weights_scratch(shape, input).total(shape.threads)
                                      : split_backward_weights_scratch(shape, input).total(shape.threads);
}

}  // namespace roentgen::engine::cpu
