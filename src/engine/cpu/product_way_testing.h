// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The ways to compute a convolution that tests of our kernels go through: what multiplies, and the type of values.
#pragma once

#include <memory>
#include <string>

#include "engine/cpu/pointwise_conv.h"
#include "engine/cpu/simd/pointwise.h"
#include "engine/cpu/simd/tiles.h"
#include "engine/cpu/split_conv.h"

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
