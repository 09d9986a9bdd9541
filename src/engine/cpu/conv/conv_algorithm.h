// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Names the algorithms that can compute a convolution.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/shape.h"

namespace roentgen::engine::cpu {

/// Algorithms of a convolution:
///   Direct        oneDNN's direct kernels
///   Winograd      four results at a time, one or two digits less accurate (winograd.h)
///   Split         each f32 number is split into three bf16 numbers, multiplied on AMX tiles; as accurate as Direct
///   Split2        as Split but with two bf16 numbers, for gradients only: half the products, each off by 4e-6. No
///                 ReLU amplifies errors of gradients (products.h, docs/adr/0013).
///   Bf16          products of bf16 values on AMX tiles or AVX-512's bf16 instructions (CompileOptions::dtype)
///   WinogradBf16  Winograd in f32 on values stored in bf16
///   Pointwise     products of f32 matrices by AVX-512, for 1x1 convolutions without a stride (products.h)
enum class ConvAlgorithm { Direct, Winograd, Split, Split2, Bf16, WinogradBf16, Pointwise };
constexpr std::array kConvAlgorithms{ConvAlgorithm::Direct,   ConvAlgorithm::Winograd, ConvAlgorithm::Split,
                                     ConvAlgorithm::Split2,   ConvAlgorithm::Bf16,     ConvAlgorithm::WinogradBf16,
                                     ConvAlgorithm::Pointwise};

/// The three passes of a convolution.
enum class ConvPass { Forward, BackwardData, BackwardWeights };
/// Name of a pass: "forward", "backward_data" or "backward_weights".
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

/// True for Winograd's algorithm on values in f32 or bf16.
[[nodiscard]] constexpr bool is_winograd(ConvAlgorithm algorithm) {
  return algorithm == ConvAlgorithm::Winograd || algorithm == ConvAlgorithm::WinogradBf16;
}

/// True if each product is computed as three or six products of split numbers.
[[nodiscard]] constexpr bool is_split(ConvAlgorithm algorithm) {
  return algorithm == ConvAlgorithm::Split || algorithm == ConvAlgorithm::Split2;
}

/// Type in which src and dst of the algorithm's kernels are stored.
[[nodiscard]] constexpr DType dtype_of(ConvAlgorithm algorithm) {
  return algorithm == ConvAlgorithm::Bf16 || algorithm == ConvAlgorithm::WinogradBf16 ? DType::Bf16 : DType::F32;
}

/// Name of the algorithm in plans, such as "winograd_bf16". The option --algorithms accepts the names of algorithms on
/// f32 values.
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
/// Algorithm with this name, or nullopt.
[[nodiscard]] constexpr std::optional<ConvAlgorithm> conv_algorithm(std::string_view name) {
  for (const ConvAlgorithm algorithm : kConvAlgorithms) {
    if (name_of(algorithm) == name) return algorithm;
  }
  return std::nullopt;
}

}  // namespace roentgen::engine::cpu
