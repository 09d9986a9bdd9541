// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The algorithms a convolution can be computed by.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace roentgen::engine::cpu {

/// Direct; Winograd's F(4x4, 3x3), about one digit less accurate (winograd.h); or products of numbers split into three
/// bf16 ones on the machine's tiles, as accurate as direct (split_conv.h).
enum class ConvAlgorithm { Direct, Winograd, Split };
constexpr std::array kConvAlgorithms{ConvAlgorithm::Direct, ConvAlgorithm::Winograd, ConvAlgorithm::Split};

/// "direct", "winograd", "split": as plans and --algorithms name them.
[[nodiscard]] constexpr std::string_view name_of(ConvAlgorithm algorithm) {
  if (algorithm == ConvAlgorithm::Direct) return "direct";
  return algorithm == ConvAlgorithm::Winograd ? "winograd" : "split";
}
/// The algorithm of that name, if there is one.
[[nodiscard]] constexpr std::optional<ConvAlgorithm> conv_algorithm(std::string_view name) {
  for (const ConvAlgorithm algorithm : kConvAlgorithms) {
    if (name_of(algorithm) == name) return algorithm;
  }
  return std::nullopt;
}

}  // namespace roentgen::engine::cpu
