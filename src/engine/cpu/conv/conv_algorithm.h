// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The algorithms a convolution can be computed by.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/shape.h"

namespace roentgen::engine::cpu {

/// Algorithms of a convolution:
///   Direct        oneDNN's direct kernels
///   Winograd      four results at a time, one or two digits less accurate (winograd.h)
///   Split         products of numbers split into three bf16 ones on the machine's tiles, as accurate as Direct
///   Split2        the same with two bf16 numbers, for gradients only: half the products, each off by 4e-6, which no
///   ReLU
///                 amplifies (products.h, docs/adr/0013)
///   Bf16          products of bf16 values on the tiles or AVX-512 with its bf16 instructions (CompileOptions::dtype)
///   WinogradBf16  Winograd in f32 of values stored in bf16
///   Pointwise     products of f32 matrices for 1x1 convolutions without a stride, by AVX-512 (products.h)
enum class ConvAlgorithm { Direct, Winograd, Split, Split2, Bf16, WinogradBf16, Pointwise };
constexpr std::array kConvAlgorithms{ConvAlgorithm::Direct,   ConvAlgorithm::Winograd, ConvAlgorithm::Split,
                                     ConvAlgorithm::Split2,   ConvAlgorithm::Bf16,     ConvAlgorithm::WinogradBf16,
                                     ConvAlgorithm::Pointwise};

/// The three computations of a convolution.
enum class ConvPass { Forward, BackwardData, BackwardWeights };
/// "forward", "backward_data", "backward_weights".
[[nodiscard]] constexpr std::string_view name_of(ConvPass pass) {
  switch (pass) {
    case ConvPass::BackwardData:
      return "backward_data";
    case ConvPass::BackwardWeights:
      return "backward_weights";
    default:
      return "forward";
  }
}

/// True for Winograd's algorithm, on values in f32 or bf16.
[[nodiscard]] constexpr bool is_winograd(ConvAlgorithm algorithm) {
  return algorithm == ConvAlgorithm::Winograd || algorithm == ConvAlgorithm::WinogradBf16;
}

/// True for products of split numbers: three or six for each product.
[[nodiscard]] constexpr bool is_split(ConvAlgorithm algorithm) {
  return algorithm == ConvAlgorithm::Split || algorithm == ConvAlgorithm::Split2;
}

/// Dtype in which src and dst of an algorithm's kernels are stored.
[[nodiscard]] constexpr DType dtype_of(ConvAlgorithm algorithm) {
  return algorithm == ConvAlgorithm::Bf16 || algorithm == ConvAlgorithm::WinogradBf16 ? DType::Bf16 : DType::F32;
}

/// "direct", "winograd", "split", "split2", "bf16", "winograd_bf16", "pointwise": as plans name them, and --algorithms
/// those of f32.
[[nodiscard]] constexpr std::string_view name_of(ConvAlgorithm algorithm) {
  switch (algorithm) {
    case ConvAlgorithm::Winograd:
      return "winograd";
    case ConvAlgorithm::Split:
      return "split";
    case ConvAlgorithm::Split2:
      return "split2";
    case ConvAlgorithm::Bf16:
      return "bf16";
    case ConvAlgorithm::WinogradBf16:
      return "winograd_bf16";
    case ConvAlgorithm::Pointwise:
      return "pointwise";
    default:
      return "direct";
  }
}
/// The algorithm of that name, if there is one.
[[nodiscard]] constexpr std::optional<ConvAlgorithm> conv_algorithm(std::string_view name) {
  for (const ConvAlgorithm algorithm : kConvAlgorithms) {
    if (name_of(algorithm) == name) return algorithm;
  }
  return std::nullopt;
}

}  // namespace roentgen::engine::cpu
